import { enterInFlight, inFlightUse, mayDrain } from '../../../../src/effects/in-flight.ts'
import { admin, api, createAccount, createEndpoint, describe, env, expect, it, send, teamOf } from '../../../support/harness.ts'

const MIB = 2 ** 20

const WRAPPING = '{"input":{"a":""}}'.length

/** A job of `bytes` bytes without an announced length. */
function chunked(key: string, path: string, bytes: number, end = '}'): Promise<Response> {
  const text = new TextEncoder().encode(`{"input":{"a":"${'x'.repeat(bytes)}"}${end}`)
  const body = new ReadableStream({
    type: 'bytes',
    start(controller) {
      for (let at = 0; at < text.length; at += 10_000) controller.enqueue(text.slice(at, at + 10_000))
      controller.close()
    },
  })
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' }
  return send(path, { method: 'POST', headers, body })
}

describe('request bodies in progress', () => {
  it('[H7][BUDGET-4] of an account have a limit in ten seconds, and other accounts are not affected', async () => {
    const [account, other] = [await createAccount(), await createAccount()]
    await admin().put(`/admin/v1/users/${account.userId}/budgets`, { inFlightBytes: 2 * MIB })
    const teamId = await teamOf(account)
    const id = await createEndpoint(account.key, { workers: { max: 0 } })
    const submit = (bytes: number) => api(account.key).post(`/v2/${id}/run`, `{"input":{"a":"${'x'.repeat(bytes)}"}}`)
    enterInFlight(teamId, MIB, Date.now())
    expect(await submit(2 * MIB)).toMatchObject({
      status: 429,
      body: {
        detail: expect.stringMatching(
          /^the account's budget inFlightBytes .* is 2097152: 1048576 are in use and the request needs \d+ more/,
        ),
      },
    })
    expect((await submit(1000)).status).toBe(200)
    const foreign = await createEndpoint(other.key, { workers: { max: 0 } })
    expect((await api(other.key).post(`/v2/${foreign}/run`, `{"input":{"a":"${'x'.repeat(2 * MIB)}"}}`)).status).toBe(200)
    expect((await submit(0.9 * MIB)).status).toBe(200)
    expect(await inFlightUse(env, teamId, Date.now())).toEqual({ used: expect.any(Number), bound: 2 * MIB })
    expect((await submit(0.9 * MIB)).status).toBe(429)
    expect((await api(account.key).get(`/v2/${id}/health`)).body.jobs.inQueue).toBe(2)
  })

  it('[H7][BUDGET-4] that are refused for their content count 32 times', async () => {
    const account = await createAccount()
    const teamId = await teamOf(account)
    const id = await createEndpoint(account.key, { workers: { max: 0 } })
    const submit = (body: string) => api(account.key).post(`/v2/${id}/run`, body)
    const used = async () => (await inFlightUse(env, teamId, Date.now())).used
    const good = `{"input":{"a":"${'x'.repeat(MIB)}"}}`
    expect((await submit(good)).status).toBe(200)
    expect(await used()).toBe(good.length)
    const bad = good.slice(0, -1)
    expect((await submit(bad)).status).toBe(400)
    expect(await used()).toBe(good.length + 32 * bad.length)
  })

  it('[REST-20] of unknown length count by their bytes: 60 simultaneous small /run calls and 400 /runsync calls are accepted', async () => {
    const account = await createAccount()
    const teamId = await teamOf(account)
    const id = await createEndpoint(account.key, { workers: { max: 20 } })
    const runs = await Promise.all(Array.from({ length: 60 }, () => chunked(account.key, `/v2/${id}/run`, 100)))
    expect(runs.map(({ status }) => status)).toEqual(runs.map(() => 200))
    const syncs = Array.from({ length: 400 }, () => chunked(account.key, `/v2/${id}/runsync?wait=1000`, 100))
    expect((await Promise.all(syncs)).map(({ status }) => status)).toEqual(syncs.map(() => 200))
    expect((await inFlightUse(env, teamId, Date.now())).used).toBe(0)
    expect((await api(account.key).get(`/v2/${id}/health`)).body.jobs.inQueue).toBe(460)
  })

  it('[REST-20] count as they arrive if large, are refused where there is no room, and leave nothing', async () => {
    const account = await createAccount()
    await admin().put(`/admin/v1/users/${account.userId}/budgets`, { inFlightBytes: 2 * MIB })
    const teamId = await teamOf(account)
    const id = await createEndpoint(account.key, { workers: { max: 0 } })
    expect((await chunked(account.key, `/v2/${id}/run`, MIB)).status).toBe(200)
    const { used } = await inFlightUse(env, teamId, Date.now())
    expect(used).toBe(MIB + WRAPPING)
    const refused = await chunked(account.key, `/v2/${id}/run`, 1.5 * MIB)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await refused.json()).toMatchObject({ detail: expect.stringContaining(`the account's budget inFlightBytes`) })
    expect((await chunked(account.key, `/v2/${id}/runsync`, 1.5 * MIB)).status).toBe(429)
    const { used: usedThen } = await inFlightUse(env, teamId, Date.now())
    expect(usedThen).toBeGreaterThan(used)
    expect(usedThen).toBeLessThanOrEqual(2 * MIB)
    expect((await chunked(account.key, `/v2/${id}/run`, 100)).status).toBe(200)
    expect((await api(account.key).get(`/v2/${id}/health`)).body.jobs.inQueue).toBe(2)
  })

  it('[REST-20] stay within the limit if many are large', async () => {
    const account = await createAccount()
    await admin().put(`/admin/v1/users/${account.userId}/budgets`, { inFlightBytes: 4 * MIB })
    const id = await createEndpoint(account.key, { workers: { max: 0 } })
    const calls = Array.from({ length: 12 }, () => chunked(account.key, `/v2/${id}/run`, MIB))
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([])
    const taken = statuses.filter((status) => status === 200).length
    expect(taken).toBeLessThanOrEqual(3)
    expect((await api(account.key).get(`/v2/${id}/health`)).body.jobs.inQueue).toBe(taken)
  })

  it('[REST-20] count 32 times if malformed, as all do', async () => {
    const account = await createAccount()
    const teamId = await teamOf(account)
    const id = await createEndpoint(account.key, { workers: { max: 0 } })
    expect((await chunked(account.key, `/v2/${id}/run`, MIB, '')).status).toBe(400)
    expect((await inFlightUse(env, teamId, Date.now())).used).toBe(32 * (MIB + WRAPPING - 1))
  })

  it('[H7][BUDGET-4] count for ten seconds, and the account is dropped from memory afterwards', async () => {
    const teamId = crypto.randomUUID()
    const nowMs = Date.now()
    enterInFlight(teamId, 5, nowMs)
    expect((await inFlightUse(env, teamId, nowMs + 9_999)).used).toBe(5)
    expect((await inFlightUse(env, teamId, nowMs + 10_000)).used).toBe(0)
  })

  it('[H7][BUDGET-4] are read to their end after a refusal only a limited number of times', () => {
    const teamId = crypto.randomUUID()
    const nowMs = Date.now()
    expect([60, 4, 1].map((mib) => mayDrain(teamId, mib * MIB, nowMs))).toEqual([true, true, false])
    expect(mayDrain(teamId, MIB, nowMs + 10_000)).toBe(true)
    expect(mayDrain(crypto.randomUUID(), 64 * MIB, nowMs)).toBe(true)
  })
})
