import {
  admin,
  api,
  createAccount,
  createEndpoint,
  describe,
  endpointBody,
  env,
  evictDurableObject,
  expect,
  it,
  runDurableObjectAlarm,
  runInDurableObject,
} from '../../../support/harness.ts'
import { runAndTake, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'
import { until } from '../../../support/time.ts'

const MIB = 2 ** 20
const INPUT = JSON.stringify({ input: { text: 'x'.repeat(MIB) } })

const NOTHING = { tables: [], alarm: null }

type Stub = ReturnType<typeof endpointStub>
const sizeOf = (stub: Stub) => runInDurableObject(stub, (_, { storage }) => storage.sql.databaseSize)
const storedIn = (stub: Stub) =>
  runInDurableObject(stub, async (_, { storage }) => {
    const tables = storage.sql.exec<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'",
    )
    return { tables: tables.toArray().map(({ name }) => name), alarm: await storage.getAlarm() }
  })

describe('the storage of queues', () => {
  it('[M8][END-33] of a deleted endpoint is free when none of its work is in progress, its alarm too', async () => {
    const call = api((await createAccount()).key)
    const id = (await call.post('/v2/serverless', endpointBody({ workers: { max: 0 } }))).body.id
    for (let job = 0; job < 3; job += 1) expect((await call.post(`/v2/${id}/run`, INPUT)).status).toBe(200)
    const stub = endpointStub(env, id)
    expect(await sizeOf(stub)).toBeGreaterThan(3 * MIB)
    expect((await call.delete(`/v2/serverless/${id}`)).status).toBe(204)
    expect(await storedIn(stub)).toEqual(NOTHING)
    // Reads of the deleted endpoint create nothing, also after a restart.
    for (const restart of [async () => undefined, () => evictDurableObject(stub)]) {
      await restart()
      expect((await call.get(`/v2/${id}/health`)).status).toBe(404)
      expect(await stub.status(id, 'nosuchjob', { userId: 'u', exempt: true })).toMatchObject({ status: 404 })
      expect(await stub.recallWorker('nosuchworker')).toBe(null)
      expect(await stub.capacityAppeared()).toBe(false)
      expect(await runInDurableObject(stub, ({ core }) => core.config())).toBe(null)
      expect(await storedIn(stub)).toEqual(NOTHING)
    }
  })

  it('[M8][END-33] is not created again by a change that arrives after the end of its endpoint', async () => {
    const call = api((await createAccount()).key)
    const id = (await call.post('/v2/serverless', endpointBody({ workers: { max: 0 } }))).body.id
    const stub = endpointStub(env, id)
    const config = await runInDurableObject(stub, ({ core }) => core.config())
    expect((await call.delete(`/v2/serverless/${id}`)).status).toBe(204)
    if (config) await stub.configure({ ...config, revision: config.revision + 1 })
    expect(await storedIn(stub)).toEqual(NOTHING)
    // A late host message creates the tables again; the next alarm deletes them.
    await stub.hostChanged(['nosuchworker'], { kind: 'heard' })
    expect((await storedIn(stub)).tables).not.toEqual([])
    expect(await runDurableObjectAlarm(stub)).toBe(true)
    expect(await storedIn(stub)).toEqual(NOTHING)
  })

  it('[M8][END-33] is kept while the deletion may still fail, and while one of its workers exists', async () => {
    const queue = await setUpQueue()
    const stub = endpointStub(env, queue.endpointId)
    const { worker } = await runAndTake(queue)
    const idle = endpointStub(env, await createEndpoint(queue.account.key, { workers: { max: 0 } }))
    for (const begun of [stub, idle]) {
      await begun.destroy()
      await begun.discard()
      expect(await runInDurableObject(begun, ({ core }) => core.state.meta.deleted())).toBe(true)
    }
    expect((await api(queue.account.key).delete(`/v2/serverless/${queue.endpointId}`)).status).toBe(204)
    expect((await storedIn(stub)).tables).toContain('workers')
    await queue.host.waitFor((workload) => workload.id === worker.id && workload.desired === 'stopped')
    await queue.host.report(worker.id, { state: 'gone' })
    await until(
      async () => (await runInDurableObject(stub, ({ core }) => core.state.workers.all().length + core.placing.inFlight.size)) === 0,
    )
    expect(await runDurableObjectAlarm(stub)).toBe(true)
    expect(await storedIn(stub)).toEqual(NOTHING)
    queue.host.leave()
  })

  it('[M8][BUDGET-3] of all endpoints of an account shares one budget of bytes, and frees its part', { timeout: 60_000 }, async () => {
    const account = await createAccount()
    const call = api(account.key)
    await admin().put(`/admin/v1/users/${account.userId}/budgets`, { queuedBytes: 9 * MIB })
    const [first, second] = [
      await createEndpoint(account.key, { workers: { max: 0 } }),
      await createEndpoint(account.key, { workers: { max: 0 } }),
    ]
    const fill = async (id: string) => {
      for (let accepted = 0; accepted < 40; accepted += 1) {
        const reply = await call.post(`/v2/${id}/run`, INPUT)
        if (reply.status !== 200) return { accepted, reply }
      }
      return null
    }
    const full = await fill(first)
    expect(full?.reply).toMatchObject({
      status: 429,
      body: {
        detail: expect.stringMatching(/^the account's budget queuedBytes .* is 9437184: \d+ are in use and the request needs \d+ more/),
      },
    })
    expect(full?.accepted).toBeGreaterThanOrEqual(6)
    expect(full?.accepted).toBeLessThanOrEqual(8)
    // The second endpoint can only use the bytes that need no grant.
    expect((await fill(second))?.accepted).toBeLessThanOrEqual(4)
    const use = (await call.get('/v2/account/limits')).body.queuedBytes
    expect(use.used).toBeLessThanOrEqual(use.bound)

    expect((await call.post(`/v2/${first}/purge-queue`, {})).status).toBe(200)
    const stub = env.ENDPOINT.get(env.ENDPOINT.idFromName(first))
    await runInDurableObject(stub, async ({ core }) => {
      const now = core.now()
      core.now = () => now + 86_400_000
      await core.wake()
    })
    expect((await call.get('/v2/account/limits')).body.queuedBytes.used).toBe(0)
    expect((await call.post(`/v2/${first}/run`, INPUT)).status).toBe(200)
    await call.delete(`/v2/serverless/${first}`)
    expect((await call.get('/v2/account/limits')).body.queuedBytes.used).toBe(0)
  })
})
