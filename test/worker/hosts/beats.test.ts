import { admin, describe, env, expect, it, runInDurableObject, vi } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { envOf, hostRow } from '../../support/hosts/hosts.ts'
import { hostStub } from '../../support/runner/stubs.ts'
import { until } from '../../support/time.ts'

const ecc = { index: 2, uuid: 'GPU-b', problem: 'uncorrectable ECC errors' }
const hot = { index: 0, uuid: 'GPU-a', problem: 'overheated (95 °C or more)' }
const read = async (host: FakeHost) => (await admin().get(`/admin/v1/hosts/${host.id}`)).body

/** Counts the D1 queries of the host's object during `act`. */
async function countQueries(host: FakeHost, act: () => Promise<void>): Promise<number> {
  const stub = hostStub(env, host.id)
  const spies = await runInDurableObject(stub, (object) => {
    const db = envOf(object).DB
    return [vi.spyOn(db, 'prepare'), vi.spyOn(db, 'batch')] as const
  })
  await act()
  const count = spies[0].mock.calls.length
  for (const spy of spies) spy.mockRestore()
  return count
}

/** Number of rows that the host's object has written to its own storage so far. */
async function storedWrites(host: FakeHost): Promise<number> {
  return runInDurableObject(hostStub(env, host.id), (_, state) => {
    const row = state.storage.sql.exec<{ changes: number }>('SELECT total_changes() AS changes').one()
    return row.changes
  })
}

async function beatTimes(host: FakeHost, count: number, change: Record<string, unknown> = {}): Promise<void> {
  for (let i = 0; i < count; i++) await host.beat(change)
}

describe('heartbeats', () => {
  it('[HOST-39] nothing is written for a heartbeat without a change, to D1 or elsewhere', async () => {
    const host = await FakeHost.enrol()
    await host.link()
    await host.beat({ gpuHealth: [] })
    const before = { row: await hostRow(host.id), writes: await storedWrites(host) }
    expect(await countQueries(host, () => beatTimes(host, 50, { cpuPercent: 3, memoryPercent: 4 }))).toBe(0)
    expect(await countQueries(host, () => beatTimes(host, 50, { gpuHealth: [] }))).toBe(0)
    expect(await hostRow(host.id)).toEqual(before.row)
    expect(await storedWrites(host)).toBe(before.writes)
    host.leave()
  })

  it('[HOST-43] a host whose clock is five minutes off is as healthy as any other', async () => {
    for (const skewMs of [-300_000, 300_000]) {
      const host = await FakeHost.enrol()
      await host.link()
      await host.beat({ sentAt: Date.now() + skewMs })
      expect(await read(host)).toMatchObject({ status: 'ONLINE', health: 'HEALTHY' })
      const seen = Date.parse((await read(host)).lastSeenAt)
      expect(Math.abs(seen - Date.now())).toBeLessThan(60_000)
      host.leave()
    }
  })

  it('[HOST-42] a problem of a GPU cordons the host; repeats and its end write no more than necessary', async () => {
    const host = await FakeHost.enrol()
    await host.link()
    await host.beat({ gpuHealth: [ecc] })
    await until(async () => (await read(host)).cordon !== null)
    expect(await read(host)).toMatchObject({
      health: 'UNHEALTHY',
      cordon: { by: 'health', reason: 'gpu 2: uncorrectable ECC errors' },
      draining: false,
      gpuProblems: [{ gpu: 2, problem: 'uncorrectable ECC errors' }],
    })
    expect(await countQueries(host, () => beatTimes(host, 5, { gpuHealth: [ecc] }))).toBe(0)
    await host.beat({ gpuHealth: [] })
    await until(async () => (await read(host)).gpuProblems.length === 0)
    expect(await read(host)).toMatchObject({ health: 'HEALTHY', cordon: { by: 'health' } })
    host.leave()
  })

  it("[HOST-42] the operator's uncordon stands until a new problem shows, over a new link too", async () => {
    const host = await FakeHost.enrol()
    await host.link()
    await host.beat({ gpuHealth: [ecc] })
    await until(async () => (await read(host)).cordon !== null)
    expect((await admin().post(`/admin/v1/hosts/${host.id}/uncordon`)).body.cordon).toBeNull()
    await host.link()
    await host.beat({ gpuHealth: [ecc] })
    await host.beat()
    expect(await read(host)).toMatchObject({ cordon: null, health: 'UNHEALTHY' })
    await host.beat({ gpuHealth: [ecc, hot] })
    await until(async () => (await read(host)).cordon !== null)
    expect((await read(host)).cordon.reason).toBe('gpu 0: overheated (95 °C or more)')
    host.leave()
  })

  it("[HOST-42] the operator's own cordon is not replaced", async () => {
    const host = await FakeHost.enrol()
    await host.link()
    await admin().post(`/admin/v1/hosts/${host.id}/cordon`, { reason: 'mine' })
    await host.beat({ gpuHealth: [ecc] })
    await until(async () => (await read(host)).gpuProblems.length === 1)
    expect((await read(host)).cordon).toMatchObject({ by: 'operator', reason: 'mine' })
    host.leave()
  })

  it('[HOST-42] a write that failed is repeated at the next check', async () => {
    const host = await FakeHost.enrol()
    await host.link()
    const stub = hostStub(env, host.id)
    await runInDurableObject(stub, (object) => {
      vi.spyOn(envOf(object).DB, 'prepare').mockImplementation(() => {
        throw new Error('D1 is away')
      })
    })
    await host.beat({ gpuHealth: [ecc] })
    await host.beat()
    vi.restoreAllMocks()
    expect((await read(host)).cordon).toBeNull()
    await runInDurableObject(stub, (object) => object.alarm())
    expect((await read(host)).cordon).toMatchObject({ reason: 'gpu 2: uncorrectable ECC errors' })
    host.leave()
  })

  it('a list of problems out of bounds is not a valid message', async () => {
    const host = await FakeHost.enrol()
    await host.link()
    const closed = new Promise<number>((resolve) => host.onClose(resolve))
    void host.beat({ gpuHealth: Array.from({ length: 65 }, () => ecc) })
    expect(await closed).toBe(4002)
  })
})
