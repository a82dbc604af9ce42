import { Alarms } from '../../../durable-objects/alarms.ts'
import { formatTime } from '../../../src/contract/timestamps.ts'
import { admin, describe, env, evictDurableObject, expect, it, runDurableObjectAlarm, runInDurableObject } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { advanceHost, freezeHostClock, hostRow, moveHostClock } from '../../support/hosts/hosts.ts'
import { freezeClock, run, setUpQueue } from '../../support/queue/queue.ts'
import { endpointStub, hostStub } from '../../support/runner/stubs.ts'
import { until } from '../../support/time.ts'

const LEASE_MS = 30_000
const LOST_MS = 300_000
const gpus = (typeId: string) => ({
  gpus: [{ typeId, count: 1, memoryMb: 24_576, driverVersion: null, cudaVersion: null, simulated: true }],
})
const read = async (host: FakeHost) => (await admin().get(`/admin/v1/hosts/${host.id}`)).body
const check = async (host: FakeHost) => {
  const { status, health } = await read(host)
  return `${status} ${health}`
}

/** A host whose last heartbeat is exactly at the frozen time of its object's clock. */
async function linkedHost(change = {}): Promise<{ host: FakeHost; heardAtMs: number }> {
  const host = await FakeHost.enrol(change)
  const heardAtMs = await freezeHostClock(host.id)
  await host.link()
  return { host, heardAtMs }
}

/** The presence record in the storage of the host's object. */
function noted(host: FakeHost): Promise<Record<string, unknown>> {
  return runInDurableObject(hostStub(env, host.id), (_, state) =>
    JSON.parse(String(state.storage.sql.exec("SELECT value FROM meta WHERE key = 'presence'").one().value)),
  )
}

async function closeLink(host: FakeHost): Promise<void> {
  host.leave()
  await until(async () => (await noted(host)).linkClosedAtMs !== null)
}

describe('a silent host', () => {
  it('[HOST-33, HOST-2, HOST-37] is suspect at 15 s, offline at 30 s, lost 5 min later, and healthy again when it links', async () => {
    const { host } = await linkedHost()
    expect(await check(host)).toBe('ONLINE HEALTHY')
    await advanceHost(host.id, 14_999)
    expect(await check(host)).toBe('ONLINE HEALTHY')
    await advanceHost(host.id, 1)
    expect(await check(host)).toBe('ONLINE SUSPECT')
    await advanceHost(host.id, LEASE_MS - 15_001)
    expect(await check(host)).toBe('ONLINE SUSPECT')
    await advanceHost(host.id, 1)
    expect(await check(host)).toBe('OFFLINE SUSPECT')
    await advanceHost(host.id, LOST_MS - 1)
    expect(await hostRow(host.id)).toMatchObject({ status: 'OFFLINE', lost_at: null })
    await advanceHost(host.id, 1)
    expect(await check(host)).toBe('OFFLINE LOST')
    await host.link()
    expect(await check(host)).toBe('ONLINE HEALTHY')
    expect(await hostRow(host.id)).toMatchObject({ status: 'ONLINE', lost_at: null })
    expect((await noted(host)).returned).toBe(true)
    await advanceHost(host.id, 1)
    expect((await noted(host)).returned).toBe(false)
    host.leave()
  })

  it('[HOST-33] is healthy again with the next heartbeat, and the plane has written nothing about it', async () => {
    const { host } = await linkedHost()
    const before = await hostRow(host.id)
    await advanceHost(host.id, 16_000)
    expect(await check(host)).toBe('ONLINE SUSPECT')
    await host.beat()
    expect(await check(host)).toBe('ONLINE HEALTHY')
    await advanceHost(host.id, 14_999)
    expect(await check(host)).toBe('ONLINE HEALTHY')
    expect(await hostRow(host.id)).toEqual(before)
    host.leave()
  })

  it('[HOST-8] [SCALE-15] notifies the endpoints that waited for its room when it sends heartbeats again', async () => {
    const { host } = await linkedHost(gpus('NVIDIA L40'))
    await advanceHost(host.id, 15_000)
    const queue = await setUpQueue({ gpu: { pools: ['ADA_48_PRO'] } })
    await run(queue)
    await until(async () => (await queue.get('/health')).body.workers.throttled === 1)
    // The endpoint's clock is frozen, so that its own retry does not fire.
    await freezeClock(queue.endpointId)
    await host.beat()
    await advanceHost(host.id, 1_000)
    await host.waitFor((w) => w.desired === 'running')
    host.leave()
  })

  it('[HOST-8] a suspect host is given no work', async () => {
    const { host } = await linkedHost(gpus('NVIDIA L40S'))
    await moveHostClock(host.id, 15_000)
    const queue = await setUpQueue({ gpu: { pools: ['ADA_48_PRO'] } })
    await run(queue)
    await until(async () => (await queue.get('/health')).body.workers.throttled === 1)
    expect(host.desired()).toEqual([])
    await moveHostClock(host.id, -1)
    await endpointStub(env, queue.endpointId).capacityAppeared()
    await host.waitFor((w) => w.desired === 'running')
    host.leave()
  })

  it('[HOST-2] has 10 s to return after its link has closed', async () => {
    const { host } = await linkedHost()
    await closeLink(host)
    await advanceHost(host.id, 9_999)
    expect(await check(host)).toBe('ONLINE HEALTHY')
    await advanceHost(host.id, 1)
    expect(await check(host)).toBe('OFFLINE SUSPECT')
  })

  it('[HOST-2] does not become offline when it returns in time', async () => {
    const { host } = await linkedHost()
    await closeLink(host)
    await moveHostClock(host.id, 9_999)
    await host.link()
    await advanceHost(host.id, 10_000)
    expect(await check(host)).toBe('ONLINE HEALTHY')
    host.leave()
  })
})

describe('an outage of the plane', () => {
  it('[HOST-35] a link whose end the plane did not see gives the host one more lease, once', async () => {
    const { host } = await linkedHost()
    // As after a crash: the sockets are gone without a close event.
    await runInDurableObject(hostStub(env, host.id), (object) => {
      object.links.none = () => true
      object.links.lastHeardAtMs = () => null
    })
    await advanceHost(host.id, 40_000)
    expect(await check(host)).toBe('ONLINE HEALTHY')
    await advanceHost(host.id, LEASE_MS - 1)
    expect(await check(host)).toBe('ONLINE SUSPECT')
    await advanceHost(host.id, 1)
    expect(await check(host)).toBe('OFFLINE SUSPECT')
  })

  it('[HOST-35] an alarm more than a lease late counts silence from now; one a lease late does not', async () => {
    const [late, later] = [await linkedHost(), await linkedHost()]
    await advanceHost(late.host.id, 15_000 + LEASE_MS)
    expect(await check(late.host)).toBe('OFFLINE SUSPECT')
    await advanceHost(later.host.id, 15_000 + LEASE_MS + 1)
    expect(await check(later.host)).toBe('ONLINE HEALTHY')
    await advanceHost(later.host.id, LEASE_MS)
    expect(await check(later.host)).toBe('OFFLINE SUSPECT')
  })

  it('[HOST-35] a second outage within a minute is excused, too, once the host has been checked in between', async () => {
    const { host, heardAtMs } = await linkedHost()
    await advanceHost(host.id, 45_001)
    for (let beats = 0; beats < 4; beats++) {
      await moveHostClock(host.id, 3_000)
      await host.beat()
    }
    // The last heartbeat is less than a minute after the stored one.
    await advanceHost(host.id, 2_999)
    await advanceHost(host.id, 1)
    await evictDurableObject(hostStub(env, host.id))
    // As after a crash: the sockets are gone without a close event.
    await runInDurableObject(hostStub(env, host.id), (object) => {
      object.links.none = () => true
      object.links.lastHeardAtMs = () => null
      object.now = () => heardAtMs + 80_000
    })
    await advanceHost(host.id, 0)
    expect(await check(host)).toBe('ONLINE HEALTHY')
    host.leave()
  })

  it('[HOST-35] an excused host still shows its true last beat', async () => {
    const { host, heardAtMs } = await linkedHost()
    await advanceHost(host.id, 60_000)
    expect(Date.parse((await read(host)).lastSeenAt)).toBe(Math.floor(heardAtMs / 1000) * 1000)
    host.leave()
  })
})

describe('the checks of a host that sends heartbeats', () => {
  const rows = (host: FakeHost) =>
    runInDurableObject(hostStub(env, host.id), (_, { storage }) =>
      ['timers', 'meta'].map((table) => storage.sql.exec(`SELECT * FROM ${table} ORDER BY 1`).toArray()),
    )

  it('[HOST-45] write no row, and the last heartbeat is stored once a minute', async () => {
    const { host, heardAtMs } = await linkedHost()
    await advanceHost(host.id, 1)
    const before = await rows(host)
    for (let seconds = 10; seconds <= 50; seconds += 10) {
      await moveHostClock(host.id, 5_000)
      await host.beat()
      await advanceHost(host.id, 5_000)
    }
    expect(await check(host)).toBe('ONLINE HEALTHY')
    expect(await rows(host)).toEqual(before)
    await moveHostClock(host.id, 10_000)
    await host.beat()
    await advanceHost(host.id, 0)
    expect((await noted(host)).lastBeatAtMs).toBeGreaterThanOrEqual(heardAtMs + 60_000)
    host.leave()
  })

  it('[HOST-45] go on after a restart of the object, whatever other timer is set first', async () => {
    const { host } = await linkedHost()
    await advanceHost(host.id, 1)
    for (const isSet of [false, true]) {
      await evictDurableObject(hostStub(env, host.id))
      const isSoon = await runInDurableObject(hostStub(env, host.id), async (object, { storage }) => {
        // As a restarted object: without the due times in memory.
        if (isSet) await new Alarms(storage, object.timers).set('other', Date.now() + 3_600_000)
        return ((await storage.getAlarm()) ?? Number.POSITIVE_INFINITY) <= Date.now() + 15_000
      })
      expect(isSoon, isSet ? 'another timer was set' : 'no timer was set').toBe(true)
      await runDurableObjectAlarm(hostStub(env, host.id))
    }
    await freezeHostClock(host.id)
    await advanceHost(host.id, 15_000)
    expect(await check(host)).toBe('ONLINE SUSPECT')
    host.leave()
  })
})

describe('last beat', () => {
  it('[HOST-34] is shown by get and list, and outlives the link', async () => {
    const { host, heardAtMs } = await linkedHost()
    await moveHostClock(host.id, 7_000)
    await host.beat()
    const seconds = Math.floor((heardAtMs + 7_000) / 1000) * 1000
    expect(Date.parse((await read(host)).lastSeenAt)).toBe(seconds)
    const listed = (await admin().get('/admin/v1/hosts')).body.hosts.find(({ id }: { id: string }) => id === host.id)
    expect(Date.parse(listed.lastSeenAt)).toBe(seconds)
    await closeLink(host)
    await advanceHost(host.id, 20_000)
    expect(await read(host)).toMatchObject({ status: 'OFFLINE', lastSeenAt: expect.any(String) })
    expect(Date.parse((await read(host)).lastSeenAt)).toBe(seconds)
  })

  it('[HOST-34] outlives a link that was closed because it was silent', async () => {
    const { host, heardAtMs } = await linkedHost()
    await moveHostClock(host.id, 10_000)
    await host.beat()
    await advanceHost(host.id, LEASE_MS)
    expect(await read(host)).toMatchObject({ status: 'OFFLINE', lastSeenAt: formatTime(heardAtMs + 10_000) })
    host.leave()
  })

  it('[HOST-34] is absent for a host that has never linked', async () => {
    const host = await FakeHost.enrol()
    expect(await read(host)).toMatchObject({ status: 'OFFLINE', health: 'SUSPECT', lastSeenAt: null })
  })
})

it('[HOST-37] a notification that did not reach an endpoint is repeated', async () => {
  const { host } = await linkedHost(gpus('NVIDIA GeForce RTX 3090'))
  const queue = await setUpQueue({ gpu: { pools: ['AMPERE_24'] } })
  await run(queue)
  await host.waitFor((w) => w.desired === 'running')
  const endpoint = endpointStub(env, queue.endpointId)
  await runInDurableObject(endpoint, (object) => {
    object.core.transact = () => Promise.reject(new Error('not now'))
  })
  await advanceHost(host.id, LEASE_MS)
  expect((await queue.get('/health')).body.workers).toMatchObject({ unhealthy: 0 })
  await runInDurableObject(endpoint, (object) => {
    Reflect.deleteProperty(object.core, 'transact')
  })
  await moveHostClock(host.id, 5_000)
  expect(await runDurableObjectAlarm(hostStub(env, host.id))).toBe(true)
  expect((await queue.get('/health')).body.workers).toMatchObject({ unhealthy: 1 })
  host.leave()
})

it('a host of a release without a presence record is watched from its next check', async () => {
  const { host } = await linkedHost()
  await runInDurableObject(hostStub(env, host.id), (_, state) => void state.storage.sql.exec("DELETE FROM meta WHERE key = 'presence'"))
  await advanceHost(host.id, 16_000)
  expect(await check(host)).toBe('ONLINE HEALTHY')
  await advanceHost(host.id, LEASE_MS)
  expect(await check(host)).toBe('OFFLINE SUSPECT')
})
