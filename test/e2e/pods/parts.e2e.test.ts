import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { STAY_SCRIPT } from '../support/agent/pod-scripts.ts'
import { busyboxImage } from '../support/agent/worker-image.ts'
import { Fleet } from '../support/plane/fleet.ts'
import { podBody, TestPod } from '../support/plane/pods.ts'

// The desired state of a host, sent in several parts of about 512 KiB each.

/** With about the largest env that a pod may have, these are three parts. */
const PODS = 11
const FILLER = 'x'.repeat(100_000)

describe('a host with a large desired state', () => {
  let fleet: Fleet
  let image: string

  beforeAll(async () => {
    image = await busyboxImage()
    fleet = await Fleet.start({ hosts: { only: { simulateGpus: `NVIDIA L4:${PODS}`, onExit: 'keep' } } })
  })
  afterAll(() => fleet?.stop())

  /** The newest container of each pod, and the pod id in its environment. */
  const received = async (pods: readonly TestPod[]) => {
    const containers = await Promise.all(pods.map((pod) => pod.containers()))
    return containers.map((all) => all.map(({ Id, Config }) => ({ Id, which: Config.Env.find((line) => line.startsWith('WHICH=')) })))
  }

  test('[C3] [HOST-71] runs every pod of every part once, with its own env, although its agent is killed in between', async () => {
    const pods: TestPod[] = []
    for (let index = 0; index < PODS; index += 1) {
      pods.push(await TestPod.create(fleet.plane, podBody(image, STAY_SCRIPT, { env: { FILLER, WHICH: String(index) } })))
    }
    // Some pods run, others are starting or not yet reported.
    await pods[2]?.reaches('RUNNING')
    await fleet.agent('only').kill('SIGKILL')
    await fleet.startHost('only')
    for (const pod of pods) await pod.reaches('RUNNING')
    const first = await received(pods)
    expect(first.map((all) => all.map(({ which }) => which))).toEqual(pods.map((_, index) => [`WHICH=${index}`]))
    await fleet.agent('only').kill('SIGKILL')
    await fleet.startHost('only')
    await pods.at(-1)?.act('stop')
    await pods.at(-1)?.reaches('EXITED')
    expect(await received(pods)).toEqual(first)
    expect((await pods[0]?.get())?.status).toBe('RUNNING')
  })
})
