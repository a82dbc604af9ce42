import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { docker } from '../support/docker.ts'
import { Fleet } from '../support/fleet.ts'
import { eventually } from '../support/plane.ts'
import { STAY_SCRIPT } from '../support/pod-scripts.ts'
import { type ContainerFacts, GPU_TYPE, podBody, TestPod } from '../support/pods.ts'
import { readUsage } from '../support/usage.ts'
import { busyboxImage } from '../support/worker-image.ts'

// Two hosts: where pods go, and what becomes of them when a host is emptied or lost.

const GPUS_EACH = 2
/** The least that the plane accepts. */
const LOST_AFTER_MS = 30_000
/** 10 s without a link until a host is offline, then that, and a little more for a busy machine. */
const LOSS_WAIT_MS = 90_000
const SECOND_MS = 1_000
/** Between two beats of a host, and a little more. */
const BEAT_MAX_MS = 8_000
/** One on each host, for a pod beside those that fill it. */
const OTHER_GPU = 'NVIDIA A40'
const NO_CAPACITY = 'There are no longer any instances available with the requested specifications. Please refresh and try again.'
const NO_GPU = 'There are not enough free GPUs on the host machine to start this pod.'

describe('pods on two hosts', () => {
  let fleet: Fleet
  let image: string
  const names = ['east', 'west'] as const

  beforeAll(async () => {
    image = await busyboxImage()
    const simulateGpus = `${GPU_TYPE}:${GPUS_EACH},${OTHER_GPU}:1`
    fleet = await Fleet.start({
      hosts: { east: { simulateGpus }, west: { simulateGpus } },
      env: { HOST_LOST_AFTER_MS: String(LOST_AFTER_MS) },
    })
  })
  afterAll(() => fleet?.stop())

  const run = (members: Record<string, unknown> = {}) => TestPod.run(fleet.plane, podBody(image, STAY_SCRIPT, members))
  const hostOf = async (pod: TestPod) => await fleet.hostOf((await pod.container()).Config.Labels)
  const otherThan = (name: string | undefined) => names.find((candidate) => candidate !== name) ?? 'west'

  test('[PP-80][POD-9][POD-17] pods are packed, a cordoned host is passed over, a drained one is emptied, and a full one says so', async () => {
    // Packed: the second pod goes where the first is.
    const first = await run({ onHostLoss: 'REPLACE' })
    const second = await run()
    const packed = (await hostOf(first)) ?? ''
    const spare = otherThan(packed)
    expect(await hostOf(second)).toBe(packed)
    expect([await fleet.freeGpus(packed, GPU_TYPE), await fleet.freeGpus(spare, GPU_TYPE)]).toEqual([0, GPUS_EACH])

    // Cordoned: there is room, and it is not used.
    await second.terminate()
    await fleet.hasFreeGpus(packed, GPU_TYPE, 1)
    await fleet.order(packed, 'cordon', { reason: 'a new fan' })
    expect((await fleet.host(packed)).cordon?.reason).toBe('a new fan')
    const third = await run()
    expect(await hostOf(third)).toBe(spare)
    expect((await first.get()).status).toBe('RUNNING')

    // Drained: the pod that may move does, with a new container and an empty disk.
    const before = await first.container()
    await first.shell('echo gone >/scratch')
    await fleet.order(packed, 'drain')
    await eventually('the pod has moved', LOSS_WAIT_MS, async () => (await hostOf(first).catch(() => undefined)) === spare, 500)
    const moved = await first.reaches('RUNNING')
    await eventually('its former container is gone', LOSS_WAIT_MS, async () => (await first.containers()).length === 1, 250)
    expect((await first.container()).Id).not.toBe(before.Id)
    expect(await first.shell('busybox ls /scratch 2>/dev/null || echo none')).toBe('none')
    expect(moved.startedAt).not.toBeNull()
    await fleet.hasFreeGpus(packed, GPU_TYPE, GPUS_EACH)
    expect(readUsage(fleet.plane, first.id)).toHaveLength(1)

    // Full: the refusal that clients match, while one host is not to be used and the other has no room.
    await expect(run()).rejects.toThrow(NO_CAPACITY)
    await fleet.order(packed, 'uncordon')
    const [fourth, fifth] = [await run(), await run()]
    expect([await hostOf(fourth), await hostOf(fifth)]).toEqual([packed, packed])
    await expect(run()).rejects.toThrow(NO_CAPACITY)

    // Room appears with a stop; the stopped pod gets it back only when it is free again.
    await third.act('stop')
    await third.isDown()
    await fleet.hasFreeGpus(spare, GPU_TYPE, 1)
    const sixth = await run()
    expect(await hostOf(sixth)).toBe(spare)
    await expect(third.act('start')).rejects.toThrow(NO_GPU)
    await sixth.terminate()
    await fleet.hasFreeGpus(spare, GPU_TYPE, 1)
    await third.act('start')
    await third.reaches('RUNNING')
    expect(await hostOf(third)).toBe(spare)
    await Promise.all([first, third, fourth, fifth].map((pod) => pod.terminate()))
    await Promise.all(names.map((name) => fleet.hasFreeGpus(name, GPU_TYPE, GPUS_EACH)))
    await Promise.all(
      names.map(async (name) => expect((await fleet.host(name)).vcpu).toMatchObject({ free: (await fleet.host(name)).vcpu.total })),
    )
  })

  test('[PP-78][POD-23] a lost host: pods wait for it or go on elsewhere, and what survived is adopted when it returns', async () => {
    // Two wait on the host that is lost, of which one survives; one that may be replaced is on it too.
    const [waiting, killed] = [await run(), await run()]
    const lost = (await hostOf(waiting)) ?? ''
    const spare = otherThan(lost)
    expect(await hostOf(killed)).toBe(lost)
    await waiting.shell('echo survives >/scratch')
    const survivor = await waiting.container()
    const victim = await killed.container()
    await fleet.order(spare, 'cordon')
    const replaced = await run({ gpu: { id: OTHER_GPU, count: 1 }, onHostLoss: 'REPLACE' })
    await fleet.order(spare, 'uncordon')
    const former = await replaced.container()
    expect(await hostOf(replaced)).toBe(lost)

    await fleet.agent(lost).kill('SIGKILL')
    const lostAtMs = Date.now()
    await docker('kill', victim.Id, former.Id)
    const [gone, dead] = await Promise.all([waiting.reaches('ERROR', LOSS_WAIT_MS), killed.reaches('ERROR', LOSS_WAIT_MS)])
    for (const view of [gone, dead]) {
      expect(view.statusReason).toMatch(/has not been heard of since .*; the pod recovers when the host returns/)
      expect(view).toMatchObject({ cost: 0, runtime: null, startedAt: null })
    }
    expect((await fleet.host(lost)).status).toBe('OFFLINE')
    await eventually('the pod runs elsewhere', LOSS_WAIT_MS, async () => (await hostOf(replaced)) === spare, 500)
    await replaced.reaches('RUNNING')
    // Nobody pays for a host that cannot be heard: the interval ended when it was last heard of.
    for (const pod of [waiting, killed, replaced]) {
      const [row, ...others] = readUsage(fleet.plane, pod.id)
      expect(others).toEqual([])
      expect(row?.endedAt).toBeLessThanOrEqual(lostAtMs + SECOND_MS)
      expect(row?.endedAt).toBeGreaterThanOrEqual(Math.max(row?.startedAt ?? 0, lostAtMs - BEAT_MAX_MS))
    }

    // It returns: the survivor runs on, the other one is over, and what was replaced leaves nothing behind.
    const returnedAtMs = Date.now()
    await fleet.startHost(lost)
    await waiting.reaches('RUNNING')
    expect(sameRun(await waiting.container(), survivor)).toBe(true)
    expect(await waiting.shell('busybox cat /scratch')).toBe('survives')
    const over = await killed.reaches('EXITED')
    expect(over.statusReason).toMatch(/code 137|SIGKILL|killed/)
    await eventually('the former container is gone', LOSS_WAIT_MS, async () => (await replaced.containers()).length === 1, 250)
    expect((await replaced.get()).status).toBe('RUNNING')
    expect(await hostOf(replaced)).toBe(spare)
    await waiting.terminate()
    const rows = readUsage(fleet.plane, waiting.id)
    expect(rows).toHaveLength(2)
    expect(rows[1]?.startedAt).toBeGreaterThanOrEqual(returnedAtMs)
    await Promise.all([killed.terminate(), replaced.terminate()])
    await Promise.all(names.map((name) => fleet.hasFreeGpus(name, GPU_TYPE, GPUS_EACH)))
  }, 240_000)
})

/** Whether a container went on without having been stopped or started in between. */
function sameRun(a: ContainerFacts, b: ContainerFacts): boolean {
  return a.Id === b.Id && a.State.StartedAt === b.State.StartedAt && a.State.Status === 'running'
}
