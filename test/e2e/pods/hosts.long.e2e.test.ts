import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { STAY_SCRIPT } from '../support/agent/pod-scripts.ts'
import { busyboxImage } from '../support/agent/worker-image.ts'
import { docker } from '../support/machines/docker.ts'
import { Fleet } from '../support/plane/fleet.ts'
import { eventually } from '../support/plane/plane.ts'
import { type ContainerFacts, podBody, TestPod } from '../support/plane/pods.ts'
import { readUsage, type UsageRow } from '../support/plane/usage.ts'

// Placement of pods, and their fate when a host is drained, lost or cut off. Each test has two hosts of its own, selected by their GPU
// type.

const GPUS_EACH = 2
const PAIRS = { scheduled: 'NVIDIA L4', lost: 'NVIDIA A40', frozen: 'NVIDIA H100 PCIe' } as const
/** The least that the plane accepts. */
const LOST_AFTER_MS = 30_000
/** At most 30 s of silence until a host is offline, then the loss timeout, and a margin for a busy machine. */
const LOSS_WAIT_MS = 120_000
const SECOND_MS = 1_000
const POLL_MS = 500
/** Time between two heartbeats of a host, and a margin. */
const BEAT_MAX_MS = 8_000
/** One GPU on each host of the second pair, for a pod beside those that fill it. */
const OTHER_GPU = 'NVIDIA L40S'
// Clients append the reasons in place of the full stop.
const NO_CAPACITY = 'There are no longer any instances available with the requested specifications. Please refresh and try again'
const NO_GPU = 'There are not enough free GPUs on the host machine to start this pod'

describe('pods on two hosts', () => {
  let fleet: Fleet
  let image: string

  beforeAll(async () => {
    image = await busyboxImage()
    const others = `,${OTHER_GPU}:1`
    const hosts = Object.entries(PAIRS).flatMap(([pair, gpu]) => {
      const simulateGpus = `${gpu}:${GPUS_EACH}${pair === 'lost' ? others : ''}`
      return ['a', 'b'].map((letter) => [`${pair}-${letter}`, { simulateGpus }] as const)
    })
    fleet = await Fleet.start({ hosts: Object.fromEntries(hosts), env: { HOST_LOST_AFTER_MS: String(LOST_AFTER_MS) } })
  })
  afterAll(() => fleet?.stop())

  /** The two hosts of a test, and pods that go there. */
  function pairOf(pair: keyof typeof PAIRS) {
    const names = [`${pair}-a`, `${pair}-b`] as const
    const gpu = PAIRS[pair]
    const run = (members: Record<string, unknown> = {}) =>
      TestPod.run(fleet.plane, podBody(image, STAY_SCRIPT, { gpu: { id: gpu, count: 1 }, ...members }))
    return {
      run,
      names,
      otherThan: (name: string) => (name === names[0] ? names[1] : names[0]),
      freeOn: (name: string) => fleet.freeGpus(name, gpu),
      hasFree: (name: string, count: number) => fleet.hasFreeGpus(name, gpu, count),
      allFree: () => Promise.all(names.map((name) => fleet.hasFreeGpus(name, gpu, GPUS_EACH))),
    }
  }
  const hostOf = async (pod: TestPod) => (await fleet.hostOf((await pod.container()).Config.Labels)) ?? 'nowhere'
  const movesTo = (pod: TestPod, host: string) =>
    eventually(`the pod runs on ${host}`, LOSS_WAIT_MS, async () => (await hostOf(pod).catch(() => undefined)) === host, POLL_MS)
  const hasOneContainer = (pod: TestPod) =>
    eventually('its former container is gone', LOSS_WAIT_MS, async () => (await pod.containers()).length === 1, POLL_MS)

  test.concurrent('[POD-33][POD-9][POD-17] pods are packed, a cordoned host is skipped, a drained one is emptied, and a full one is reported', async () => {
    const { run, names, otherThan, freeOn, hasFree, allFree } = pairOf('scheduled')
    // Packed: the second pod is placed where the first is.
    const first = await run({ onHostLoss: 'REPLACE' })
    const second = await run()
    const packed = await hostOf(first)
    const spare = otherThan(packed)
    expect(await hostOf(second)).toBe(packed)
    expect([await freeOn(packed), await freeOn(spare)]).toEqual([0, GPUS_EACH])

    // Cordoned: there is capacity, and it is not used.
    await second.terminate()
    await hasFree(packed, 1)
    await fleet.order(packed, 'cordon', { reason: 'a new fan' })
    expect((await fleet.host(packed)).cordon?.reason).toBe('a new fan')
    const third = await run()
    expect(await hostOf(third)).toBe(spare)
    expect((await first.get()).status).toBe('RUNNING')

    // Drained: the movable pod moves, with a new container and an empty disk.
    const before = await first.container()
    await first.shell('echo gone >/scratch')
    await fleet.order(packed, 'drain')
    await movesTo(first, spare)
    const moved = await first.reaches('RUNNING')
    await hasOneContainer(first)
    expect((await first.container()).Id).not.toBe(before.Id)
    expect(await first.shell('busybox ls /scratch 2>/dev/null || echo none')).toBe('none')
    expect(moved.startedAt).not.toBeNull()
    await hasFree(packed, GPUS_EACH)
    expect(readUsage(fleet.plane, first.id)).toHaveLength(1)

    // Full: the refusal that clients match, while one host is drained and the other has no capacity.
    await expect(run()).rejects.toThrow(NO_CAPACITY)
    await fleet.order(packed, 'uncordon')
    const [fourth, fifth] = [await run(), await run()]
    expect([await hostOf(fourth), await hostOf(fifth)]).toEqual([packed, packed])
    await expect(run()).rejects.toThrow(NO_CAPACITY)

    // A stop frees capacity; the stopped pod gets it back only when it is free again.
    await third.act('stop')
    await third.isDown()
    await hasFree(spare, 1)
    const sixth = await run()
    expect(await hostOf(sixth)).toBe(spare)
    await expect(third.act('start')).rejects.toThrow(NO_GPU)
    await sixth.terminate()
    await hasFree(spare, 1)
    await third.act('start')
    await third.reaches('RUNNING')
    expect(await hostOf(third)).toBe(spare)

    // Drained without capacity elsewhere: movable pods wait where they are, and move once there is capacity; the others stay.
    await fleet.order(spare, 'drain')
    expect((await first.get()).status).toBe('RUNNING')
    expect(await hostOf(first)).toBe(spare)
    await fourth.terminate()
    await movesTo(first, packed)
    await first.reaches('RUNNING')
    expect((await third.get()).status).toBe('RUNNING')
    expect(await hostOf(third)).toBe(spare)
    await Promise.all([first, third, fifth].map((pod) => pod.terminate()))
    await allFree()
    for (const name of names) {
      const { vcpu, diskGb } = await fleet.host(name)
      expect([vcpu.free, diskGb.free], name).toEqual([vcpu.total, diskGb.total])
    }
  }, 240_000)

  test.concurrent('[POD-31][POD-23] a lost host: pods wait for it or continue elsewhere, and survivors are adopted when it returns', async () => {
    const { run, otherThan, allFree } = pairOf('lost')
    // Two pods wait on the lost host, of which one survives; one replaceable pod is on it too.
    const [waiting, killed] = [await run(), await run()]
    const lost = await hostOf(waiting)
    const spare = otherThan(lost)
    expect(await hostOf(killed)).toBe(lost)
    await waiting.shell('echo survives >/scratch')
    const survivor = await waiting.container()
    const victim = await killed.container()
    await fleet.order(spare, 'cordon')
    const replaced = await run({ gpu: { id: OTHER_GPU, count: 1 }, onHostLoss: 'REPLACE' })
    await fleet.order(spare, 'uncordon')
    const previous = await replaced.container()
    expect(await hostOf(replaced)).toBe(lost)

    await fleet.agent(lost).kill('SIGKILL')
    const lostAtMs = Date.now()
    await docker('kill', victim.Id, previous.Id)
    const [gone, dead] = await Promise.all([waiting.reaches('ERROR', LOSS_WAIT_MS), killed.reaches('ERROR', LOSS_WAIT_MS)])
    for (const view of [gone, dead]) {
      expect(view.statusReason).toMatch(/has been silent since .*; the pod recovers when the host reconnects/)
      expect(view).toMatchObject({ cost: 0, runtime: null, startedAt: null })
    }
    expect(await fleet.host(lost)).toMatchObject({ status: 'OFFLINE', health: 'LOST' })
    await movesTo(replaced, spare)
    await replaced.reaches('RUNNING')
    // A silent host is not charged: the interval ended at its last heartbeat.
    for (const pod of [waiting, killed, replaced]) expectChargedUntil(readUsage(fleet.plane, pod.id), lostAtMs)

    // The host returns: the survivor continues, the other pod has ended, and the replaced one leaves nothing behind.
    const returnedAtMs = Date.now()
    await fleet.startHost(lost)
    await waiting.reaches('RUNNING')
    expect(sameRun(await waiting.container(), survivor)).toBe(true)
    expect(await waiting.shell('busybox cat /scratch')).toBe('survives')
    const over = await killed.reaches('EXITED')
    expect(over.statusReason).toMatch(/code 137|SIGKILL|killed/)
    await hasOneContainer(replaced)
    expect((await replaced.get()).status).toBe('RUNNING')
    expect(await hostOf(replaced)).toBe(spare)
    await waiting.terminate()
    const rows = readUsage(fleet.plane, waiting.id)
    expect(rows).toHaveLength(2)
    expect(rows[1]?.startedAt).toBeGreaterThanOrEqual(returnedAtMs)
    await Promise.all([killed.terminate(), replaced.terminate()])
    await allFree()
  }, 240_000)

  test.concurrent('[POD-31][HOST-37] a host that is cut off while its pods run: the replaced pod is stopped when the host is back, the other one continues', async () => {
    const { run, otherThan, allFree } = pairOf('frozen')
    const [waiting, replaced] = [await run(), await run({ onHostLoss: 'REPLACE' })]
    const frozen = await hostOf(waiting)
    const spare = otherThan(frozen)
    expect(await hostOf(replaced)).toBe(frozen)
    const [survivor, previous] = [await waiting.container(), await replaced.container()]

    // The machine is healthy, but silent: the link stays open, without a heartbeat.
    const { pid } = fleet.agent(frozen)
    process.kill(pid, 'SIGSTOP')
    const cutOffAtMs = Date.now()
    try {
      await waiting.reaches('ERROR', LOSS_WAIT_MS)
      await movesTo(replaced, spare)
      await replaced.reaches('RUNNING')
      const containers = await replaced.containers()
      expect(containers.map(({ State }) => State.Status)).toEqual(['running', 'running'])
      expect(containers[1]?.Id).toBe(previous.Id)
      for (const pod of [waiting, replaced]) expectChargedUntil(readUsage(fleet.plane, pod.id), cutOffAtMs)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await waiting.reaches('RUNNING')
    expect(sameRun(await waiting.container(), survivor)).toBe(true)
    await hasOneContainer(replaced)
    expect((await replaced.container()).Id).not.toBe(previous.Id)
    expect((await replaced.get()).status).toBe('RUNNING')
    expect(await hostOf(replaced)).toBe(spare)
    await Promise.all([waiting, replaced].map((pod) => pod.terminate()))
    expect(readUsage(fleet.plane, waiting.id)).toHaveLength(2)
    await allFree()
  }, 240_000)
})

/** Expects one interval that ended at the host's last heartbeat before `silentFromMs`. */
function expectChargedUntil(rows: readonly UsageRow[], silentFromMs: number): void {
  const [row, ...others] = rows
  expect(others).toEqual([])
  expect(row?.endedAt).toBeLessThanOrEqual(silentFromMs + SECOND_MS)
  expect(row?.endedAt).toBeGreaterThanOrEqual(Math.max(row?.startedAt ?? 0, silentFromMs - BEAT_MAX_MS))
}

/** Whether a container continued without a stop or a start in between. */
function sameRun(a: ContainerFacts, b: ContainerFacts): boolean {
  return a.Id === b.Id && a.State.StartedAt === b.State.StartedAt && a.State.Status === 'running'
}
