import type { HostPods } from '../../../../durable-objects/host/pods/pods.ts'
import { openRecords } from '../../../../src/db/client.ts'
import { insertPod } from '../../../../src/db/pods/pods.ts'
import { admin, createAccount, describe, env, expect, it, runInDurableObject, teamOf } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { freeGpus, gpus } from '../../../support/hosts/gpus.ts'
import { advanceHost, freezeHostClock, hostRow } from '../../../support/hosts/hosts.ts'
import { compute, draftPod, placed, readPod } from '../../../support/pods/pods.ts'
import { hostStub } from '../../../support/runner/stubs.ts'
import { until } from '../../../support/time.ts'

const TYPE = 'NVIDIA A30'
const ofType = { compute: compute(TYPE) }

/** A host whose clock is frozen, with a running pod. */
async function runningPod(change = {}, sequence = 1) {
  const host = await FakeHost.join(gpus(1, TYPE))
  const heardAtMs = await freezeHostClock(host.id)
  const id = await placed(host, { ...ofType, ...change })
  await host.waitFor((w) => w.id === `${id}-1`)
  await host.report(`${id}-1`, { state: 'running', sequence })
  return { host, id, heardAtMs }
}

async function goOffline(host: FakeHost): Promise<void> {
  host.leave()
  await until(async () =>
    runInDurableObject(hostStub(env, host.id), (_, state) => {
      const text = state.storage.sql.exec("SELECT value FROM meta WHERE key = 'presence'").one().value
      return JSON.parse(String(text)).linkClosedAtMs !== null
    }),
  )
  await advanceHost(host.id, 10_000)
  expect((await hostRow(host.id)).status).toBe('OFFLINE')
}

const remove = async (host: FakeHost) => (await admin().delete(`/admin/v1/hosts/${host.id}`)).status
const endsOf = async (id: string) =>
  (await env.DB.prepare('SELECT ended_at AS e FROM usage WHERE workload_id = ?').bind(id).all<{ e: number }>()).results.map(({ e }) => e)

describe('a host that is removed', () => {
  it('[HOST-8] releases its pods whatever number its last report had, and they are charged to its last sign of life', async () => {
    const { host, id } = await runningPod({}, Number.MAX_SAFE_INTEGER)
    const startedAtMs = (await readPod(id)).startedAtMs
    await goOffline(host)
    expect(await remove(host)).toBe(204)
    expect(await readPod(id)).toMatchObject({ status: 'EXITED', statusReason: 'its host was removed', hostLost: false, diskStale: true })
    expect(await endsOf(id)).toEqual([startedAtMs])
    expect(await remove(host)).toBe(404)
  })

  it('[HOST-8] does so too when the request ends after its record', async () => {
    const { host, id } = await runningPod()
    await goOffline(host)
    await hostStub(env, host.id).expectRemoval(host.id)
    await env.DB.prepare("UPDATE hosts SET status = 'REMOVED' WHERE id = ?").bind(host.id).run()
    await advanceHost(host.id, 60_000)
    expect(await readPod(id)).toMatchObject({ status: 'EXITED', statusReason: 'its host was removed' })
    const timers = await runInDurableObject(hostStub(env, host.id), (_, state) =>
      state.storage.sql.exec("SELECT 1 FROM timers WHERE name = 'removal'").toArray(),
    )
    expect(timers).toEqual([])
  })

  it('[HOST-8] keeps its pods when the removal was announced and then refused', async () => {
    const { host, id } = await runningPod()
    expect(await remove(host)).toBe(409)
    await runInDurableObject(hostStub(env, host.id), (_, state) =>
      state.storage.sql.exec("UPDATE timers SET due_at = 1 WHERE name = 'removal'"),
    )
    await advanceHost(host.id, 0)
    expect((await readPod(id)).status).toBe('RUNNING')
    await env.DB.prepare('UPDATE hosts SET cordoned_at = 1 WHERE id = ?').bind(host.id).run()
    host.leave()
  })

  it('[HOST-8] ends pods that its object does not know', async () => {
    const host = await FakeHost.join(gpus(1, TYPE))
    await freezeHostClock(host.id)
    const granted = { hostId: host.id, dataCenterId: 'LOCAL-1', cudaVersion: '12.8', publicIp: null, vcpus: 2, memoryMb: 1024 }
    const pod = { ...draftPod(await teamOf(await createAccount()), `podr${Date.now()}`, ofType), ...granted }
    await insertPod(openRecords(env), pod, { gpu: { typeId: TYPE, count: 1 }, vcpus: 2, memoryMb: 1024, diskGb: 10 })
    await goOffline(host)
    expect(await remove(host)).toBe(204)
    expect(await readPod(pod.id)).toMatchObject({ status: 'EXITED', statusReason: 'its host was removed' })
  })

  it('[POD-31] lets replaceable pods continue on other hosts', async () => {
    const { host, id } = await runningPod({ onHostLoss: 'REPLACE' })
    await goOffline(host)
    const other = await FakeHost.join(gpus(1, TYPE))
    expect(await remove(host)).toBe(204)
    expect(await readPod(id)).toMatchObject({ status: 'STARTING', hostId: other.id, generation: 2 })
    const left = await env.DB.prepare('SELECT COUNT(*) AS n FROM allocations WHERE host_id = ?').bind(host.id).first<{ n: number }>()
    expect(left?.n).toBe(0)
    await env.DB.prepare('UPDATE hosts SET cordoned_at = 1 WHERE id = ?').bind(other.id).run()
    other.leave()
  })
})

describe('a host that is lost', () => {
  it('[POD-31] does not keep a pod that it reports running without a link as running for ever', async () => {
    const host = await FakeHost.join(gpus(1, TYPE))
    await freezeHostClock(host.id)
    const id = await placed(host, ofType)
    await host.waitFor((w) => w.id === `${id}-1`)
    await goOffline(host)
    await advanceHost(host.id, 300_000)
    expect(await readPod(id)).toMatchObject({ status: 'ERROR', hostLost: true })
    await host.report(`${id}-1`, { state: 'running' })
    expect((await readPod(id)).status).toBe('RUNNING')
    await advanceHost(host.id, 60_000)
    expect(await readPod(id)).toMatchObject({ status: 'ERROR', hostLost: true })
  })

  it('[POD-31] is not set to lost by a check that began before its return', async () => {
    const { host, id } = await runningPod()
    await runInDurableObject(hostStub(env, host.id), async (object) => {
      const { pods } = object as unknown as { pods: HostPods }
      await env.DB.prepare("UPDATE hosts SET status = 'OFFLINE', lost_at = 1 WHERE id = ?").bind(host.id).run()
      const check = pods.moveAway(host.id)
      const report = { workloadId: `${id}-1`, state: 'running', exitCode: null, reason: null, at: Date.now(), sequence: 1 } as const
      await Promise.all([check, pods.returned(host.id, [report])])
    })
    expect(await readPod(id)).toMatchObject({ status: 'RUNNING', hostLost: false })
    expect(await freeGpus(host.id)).toBe(0)
    await env.DB.prepare('UPDATE hosts SET cordoned_at = 1 WHERE id = ?').bind(host.id).run()
    host.leave()
  })
})
