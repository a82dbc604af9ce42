import {
  admin,
  api,
  createAccount,
  createEndpoint,
  describe,
  endpointBody,
  env,
  expect,
  it,
  runInDurableObject,
} from '../../support/harness.ts'

const MIB = 2 ** 20
const INPUT = JSON.stringify({ input: { text: 'x'.repeat(MIB) } })

describe('the storage of queues', () => {
  it('[M8][PP-208] of a deleted endpoint is free when nothing of it is under way', async () => {
    const call = api((await createAccount()).key)
    const id = (await call.post('/v2/serverless', endpointBody({ workers: { max: 0 } }))).body.id
    for (let job = 0; job < 3; job += 1) expect((await call.post(`/v2/${id}/run`, INPUT)).status).toBe(200)
    const stub = env.ENDPOINT.get(env.ENDPOINT.idFromName(id))
    const stored = () => runInDurableObject(stub, (_, { storage }) => storage.sql.databaseSize)
    expect(await stored()).toBeGreaterThan(3 * MIB)
    expect((await call.delete(`/v2/serverless/${id}`)).status).toBe(204)
    expect(await stored()).toBeLessThan(MIB)
    // It is as deleted as before, whoever asks it.
    expect(await runInDurableObject(stub, ({ core }) => [core.state.meta.deleted(), core.config()])).toEqual([true, null])
    expect((await call.get(`/v2/${id}/health`)).status).toBe(404)
    expect(await stub.status(id, 'nosuchjob', { userId: 'u', exempt: true })).toMatchObject({ status: 404 })
  })

  it('[M8][PP-205] all endpoints of an account share one budget of bytes, and give it back', { timeout: 60_000 }, async () => {
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
        detail: expect.stringMatching(/^the account's budget queuedBytes .* is 9437184: \d+ are in use and \d+ more were asked for/),
      },
    })
    expect(full?.accepted).toBeGreaterThanOrEqual(6)
    expect(full?.accepted).toBeLessThanOrEqual(8)
    // What needs no grant is all that the second has left.
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
