import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countScript, numbersIn, STAY_SCRIPT, upTo } from '../support/agent/pod-scripts.ts'
import { busyboxImage } from '../support/agent/worker-image.ts'
import { PrivateEngine } from '../support/machines/private-engine.ts'
import { Fleet } from '../support/plane/fleet.ts'
import { GPU_TYPE, podBody, TestPod } from '../support/plane/pods.ts'
import { readUsage } from '../support/plane/usage.ts'

// The container engine is killed and restarted under running pods, with its own live-restore and without.

const SECOND_MS = 1_000
const HOST = 'engine'

describe('the container engine is killed', () => {
  const stops: (() => Promise<void>)[] = []
  let image: string
  beforeAll(async () => {
    image = await busyboxImage()
  })
  afterAll(async () => {
    const failures: unknown[] = []
    for (const stop of stops.toReversed()) await stop().catch((error: unknown) => failures.push(error))
    expect(failures).toEqual([])
  })

  /** A plane with one host on an engine of its own. */
  async function start(...engineFlags: string[]): Promise<{ fleet: Fleet; engine: PrivateEngine }> {
    const engine = new PrivateEngine(...engineFlags)
    stops.push(() => engine.close())
    await engine.start()
    await engine.load(image)
    const host = { simulateGpus: `${GPU_TYPE}:2`, env: { DOCKER_HOST: engine.address } }
    const fleet = await Fleet.start({ hosts: { [HOST]: host }, engine: engine.clientArgs })
    stops.push(() => fleet.stop())
    return { fleet, engine }
  }

  test.concurrent('[HOST-62] with live-restore: the pod survives, no line is lost, and charges continue', async () => {
    const { fleet, engine } = await start('--live-restore')
    const count = 150
    const pod = await TestPod.run(fleet.plane, podBody(image, countScript({ count, everyMs: 100 })), engine.clientArgs)
    const before = await pod.container()
    const log = pod.log()
    await log.waitFor((lines) => lines.includes('line 20'))
    await engine.kill('SIGKILL')
    await engine.start()
    await log.waitFor((lines) => lines.includes(`line ${count}`))
    expect(numbersIn(log.lines())).toEqual(upTo(count))
    log.close()
    expect((await pod.get()).status).toBe('RUNNING')
    const after = await pod.container()
    expect([after.Id, after.State.StartedAt, after.State.Status]).toEqual([before.Id, before.State.StartedAt, 'running'])
    expect(readUsage(fleet.plane, pod.id)).toEqual([])
    await pod.terminate()
    expect(readUsage(fleet.plane, pod.id)).toHaveLength(1)
    await fleet.hasFreeGpus(HOST, GPU_TYPE, 2)
  })

  test.concurrent('[HOST-62][POD-23] without live-restore: EXITED with the reason, and a start keeps the disk', async () => {
    const { fleet, engine } = await start()
    const pod = await TestPod.run(fleet.plane, podBody(image, STAY_SCRIPT), engine.clientArgs)
    await pod.shell('echo kept >/scratch')
    const before = await pod.container()
    await engine.kill('SIGKILL')
    await engine.start()
    const view = await pod.reaches('EXITED')
    expect(view.statusReason).toMatch(/the container engine was restarted/)
    const { State } = await pod.container()
    const [row, ...others] = readUsage(fleet.plane, pod.id)
    expect(others).toEqual([])
    expect(Math.abs((row?.startedAt ?? 0) - Date.parse(before.State.StartedAt))).toBeLessThanOrEqual(SECOND_MS)
    expect(Math.abs((row?.endedAt ?? 0) - Date.parse(State.FinishedAt))).toBeLessThanOrEqual(SECOND_MS)
    await fleet.hasFreeGpus(HOST, GPU_TYPE, 2)
    await pod.act('start')
    await pod.reaches('RUNNING')
    expect(await pod.shell('busybox cat /scratch')).toBe('kept')
    await pod.terminate()
    await fleet.hasFreeGpus(HOST, GPU_TYPE, 2)
  })
})
