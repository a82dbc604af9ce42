import { auditRows } from '../../../support/access/audited.ts'
import { createAccount, describe, env, evictDurableObject, expect, it, runInDurableObject } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { advanceHost, freezeHostClock, moveHostClock } from '../../../support/hosts/hosts.ts'
import { PODS, PodScene } from '../../../support/pods/pod-scene.ts'
import { readPod } from '../../../support/pods/pods.ts'
import { hostStub, podLogStub } from '../../../support/runner/stubs.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const IDLE_STOP = { afterSeconds: 120 }

/** A running pod with a GPU, on a host whose clock is frozen. */
async function runningPod(changes: Record<string, unknown> = { idleStop: IDLE_STOP }) {
  const host = await FakeHost.join(gpus(1))
  await freezeHostClock(host.id)
  const scene = new PodScene(host, await createAccount())
  const { id } = await scene.create(changes)
  await scene.run(id)
  return { scene, host, id }
}

/** Lets time pass with a heartbeat every 5 s that reports this GPU utilization of the pod's container. */
async function pass(host: FakeHost, ms: number, container: string, util: number | null): Promise<void> {
  const gpu = { util, memoryUtil: 0 }
  const stats = [{ id: container, cpu: 90, gpuCount: 1, gpus: util === null ? [] : [gpu] }]
  for (let passed = 0; passed < ms; passed += 5 * SECOND_MS) {
    await moveHostClock(host.id, 5 * SECOND_MS)
    await host.beat({ stats })
    await advanceHost(host.id, 0)
  }
}

const linesOf = (podId: string) =>
  runInDurableObject(podLogStub(env, 'pod', podId), (_, state) =>
    state.storage.sql
      .exec('SELECT line FROM lines ORDER BY n')
      .toArray()
      .map(({ line }) => String(line)),
  )

describe('idleStop of a pod', () => {
  it('[SPD-5] is taken at create and by PATCH, shown, kept by other changes, and cleared with null', async () => {
    const { scene, id } = await runningPod()
    expect(await scene.get(id)).toMatchObject({ idleStop: IDLE_STOP, status: 'RUNNING' })
    expect((await scene.call.patch(`${PODS}/${id}`, { name: 'q' })).body).toMatchObject({ name: 'q', idleStop: IDLE_STOP })
    const { version } = await readPod(id)
    expect((await scene.call.patch(`${PODS}/${id}`, { idleStop: IDLE_STOP })).status).toBe(200)
    expect((await readPod(id)).version).toBe(version)
    for (const idleStop of [{ afterSeconds: 59 }, { afterSeconds: 2_592_001 }, {}, 60]) {
      expect((await scene.call.patch(`${PODS}/${id}`, { idleStop })).status).toBe(422)
    }
    expect((await scene.call.patch(`${PODS}/${id}`, { idleStop: null })).body).toMatchObject({ idleStop: null, status: 'RUNNING' })
    expect((await readPod(id)).generation).toBe(1)
    scene.leave()
  })

  it('[SPD-6] stops it at the end of that time with the reason in the pod, in its log and in the audit log; a restart starts the time anew', async () => {
    const { scene, host, id } = await runningPod()
    await pass(host, MINUTE_MS, `${id}-1`, 55)
    const idleFromMs = (await runInDurableObject(hostStub(env, host.id), (object) => object.now())) + 5 * SECOND_MS
    await pass(host, 120 * SECOND_MS, `${id}-1`, 0)
    expect((await scene.get(id)).runtime).toMatchObject({ idleStopAt: expect.any(String) })
    await pass(host, 5 * SECOND_MS, `${id}-1`, 0)
    const statusReason = `stopped by idleStop: idle since ${new Date(idleFromMs).toISOString().slice(0, 19)}Z`
    expect(await scene.get(id)).toMatchObject({ status: 'EXITED', statusReason, idleStop: IDLE_STOP, runtime: null })
    expect(await linesOf(id)).toEqual([statusReason])
    expect(await auditRows("resource_id = ? AND actor_kind = 'PLATFORM'", id)).toMatchObject([
      { action: 'pods.stop', before: { wanted: 'RUNNING' }, after: { wanted: 'STOPPED' } },
    ])
    expect((await scene.act(id, 'start')).status).toBe(200)
    await host.report(`${id}-1`, { state: 'gone' })
    await scene.run(id, 2)
    await pass(host, MINUTE_MS, `${id}-2`, 0)
    expect((await readPod(id)).status).toBe('RUNNING')
    scene.leave()
  })

  it.each<[string, number | null]>([
    ['that is under load', 1],
    ['whose utilization is not reported', null],
  ])('[SPD-6] does not stop one %s', async (_title, util) => {
    const { scene, host, id } = await runningPod()
    await pass(host, 4 * MINUTE_MS, `${id}-1`, util)
    expect((await readPod(id)).status).toBe('RUNNING')
    scene.leave()
  })

  it('[SPD-6] does not stop one whose host is silent, or was: unobserved time does not count', async () => {
    const { scene, host, id } = await runningPod()
    await pass(host, 115 * SECOND_MS, `${id}-1`, 0)
    await advanceHost(host.id, 29 * SECOND_MS)
    await advanceHost(host.id, 50 * SECOND_MS)
    expect((await readPod(id)).status).toBe('RUNNING')
    await pass(host, 60 * SECOND_MS, `${id}-1`, 0)
    expect((await readPod(id)).status).toBe('RUNNING')
    scene.leave()
  })

  it('[SPD-6] leaves a locked one alone, and stops it once it is unlocked, also when the object of its host restarts in between', async () => {
    const { scene, host, id } = await runningPod({ idleStop: IDLE_STOP })
    expect((await scene.call.patch(`${PODS}/${id}`, { locked: true })).status).toBe(200)
    await pass(host, 3 * MINUTE_MS, `${id}-1`, 0)
    expect((await readPod(id)).status).toBe('RUNNING')
    const nowMs = await runInDurableObject(hostStub(env, host.id), (object) => object.now())
    await evictDurableObject(hostStub(env, host.id))
    await runInDurableObject(hostStub(env, host.id), (object) => {
      object.now = () => nowMs
    })
    expect((await scene.call.patch(`${PODS}/${id}`, { locked: false })).status).toBe(200)
    await pass(host, 15 * SECOND_MS, `${id}-1`, 0)
    expect((await readPod(id)).status).toBe('EXITED')
    scene.leave()
  })
})
