import { parseList } from 'structured-headers'
import { issuePodKey } from '../../../../src/effects/pods/pod-key.ts'
import { rateLimitHeaders } from '../../../../src/services/accounts/rate-limit-headers.ts'
import { watchDatabase } from '../../../support/cost/watch-database.ts'
import {
  admin,
  api,
  beforeEach,
  createAccount,
  createKey,
  describe,
  env,
  evictDurableObject,
  expect,
  it,
  runInDurableObject,
  teamOf,
  vi,
} from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { compute, placed } from '../../../support/pods/pods.ts'
import { insertPod } from '../../../support/pods/resources.ts'
import { rateLimiterStub } from '../../../support/runner/stubs.ts'
import { realTime, until } from '../../../support/time.ts'

const PATH = '/v2/serverless'
const POLICY = '"minute";q=60;w=60, "hour";q=3000;w=3600, "day";q=50000;w=86400'
const STATE = /^"minute";r=(\d+);t=\d+, "hour";r=(\d+);t=\d+, "day";r=(\d+);t=\d+$/
/** A GPU type that no other host of this file has. */
const LONE_TYPE = 'NVIDIA L40'
const quota = (account: { userId: string }, members: object) =>
  admin().put(`/admin/v1/users/${account.userId}/quotas`, { minute: 60, hour: 3000, day: 50000, exempt: false, ...members })

/** Whether an object admits one request. */
async function allowed(
  stub: ReturnType<typeof rateLimiterStub>,
  { minute, hour, day }: Record<'minute' | 'hour' | 'day', number>,
  nowMs: number,
): Promise<boolean> {
  return (await stub.take(minute, hour, day, nowMs))[1] === 1
}

const HOUR_MS = 3_600_000
/** Longer than any test here. */
const CLOSE_MS = 10_000

// The end of an hour within a test would give each caller a second quota.
beforeEach(async () => {
  const leftMs = HOUR_MS - (Date.now() % HOUR_MS)
  if (leftMs < CLOSE_MS) await realTime(leftMs, 'the windows are those of the clock')
}, 2 * CLOSE_MS)

describe('header form', () => {
  it('[RATE-2] written headers can be parsed back', () => {
    const windows = [
      { name: 'minute', quota: 60, windowSeconds: 60, remaining: 0, resetSeconds: 12 },
      { name: 'hour', quota: 3000, windowSeconds: 3600, remaining: 2800, resetSeconds: 1812 },
      { name: 'day', quota: 50000, windowSeconds: 86400, remaining: 49500, resetSeconds: 45012 },
    ] as const
    const headers = rateLimitHeaders({ windows: [...windows] })
    expect(headers).toEqual({
      RateLimit: '"minute";r=0;t=12, "hour";r=2800;t=1812, "day";r=49500;t=45012',
      'RateLimit-Policy': POLICY,
    })
    const parsed = parseList(headers.RateLimit).map(([name, parameters]) => [name, Object.fromEntries(parameters)])
    expect(parsed).toEqual(windows.map(({ name, remaining, resetSeconds }) => [name, { r: remaining, t: resetSeconds }]))
  })
})

describe('rate limit', () => {
  it('[RATE-2] the headers have the documented form, counting down', async () => {
    const account = await createAccount({ exempt: false })
    const first = await api(account.key).get(PATH)
    const second = await api(account.key).get(PATH)
    expect(first.headers.get('ratelimit-policy')).toBe(POLICY)
    const [, minute, hour, day] = STATE.exec(second.headers.get('ratelimit') ?? '') ?? []
    // A minute may end between the two requests.
    expect([58, 59]).toContain(Number(minute))
    expect(Number(hour)).toBeLessThanOrEqual(2999)
    expect(Number(day)).toBeLessThanOrEqual(49999)
    expect(parseList(second.headers.get('ratelimit') ?? '').map(([name]) => name)).toEqual(['minute', 'hour', 'day'])
  })

  it('[RATE-3] 2xx and 4xx alike carry them: 400, 403, 404, 405, 415, 422', async () => {
    const account = await createAccount({ exempt: false })
    const client = api(account.key)
    const replies = [
      await client.get(PATH),
      await client.post(PATH, '{'),
      await client.get(`${PATH}/nosuch`),
      await client.put(PATH, {}),
      await client.get('/v2/tags'),
      await client.post(PATH, 'x', { 'Content-Type': 'text/plain' }),
      await client.post(PATH, {}),
    ]
    expect(replies.map(({ status }) => status)).toEqual([200, 400, 404, 405, 404, 415, 422])
    for (const { headers } of replies) expect(headers.get('ratelimit')).toMatch(STATE)
  })

  it('[RATE-3] an exempt account has none', async () => {
    const { key } = await createAccount({ exempt: true })
    const reply = await api(key).get(PATH)
    expect(reply.status).toBe(200)
    expect(reply.headers.get('ratelimit')).toBeNull()
    expect(reply.headers.get('ratelimit-policy')).toBeNull()
  })

  it('[RATE-1][RATE-4] the request above the quota is 429, names the window and the time to wait', async () => {
    const account = await createAccount({ exempt: false })
    await quota(account, { hour: 2 })
    expect((await api(account.key).get(PATH)).status).toBe(200)
    expect((await api(account.key).get(PATH)).status).toBe(200)
    const refused = await api(account.key).get(PATH)
    expect(refused).toMatchObject({
      status: 429,
      body: { title: 'Too Many Requests', status: 429, detail: 'rate limit exceeded for the hour window' },
    })
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(refused.headers.get('ratelimit')).toContain(`"hour";r=0;t=${wait}`)
  })

  it('[ERR-6] the limit comes after the key and before path and scope', async () => {
    const account = await createAccount({ exempt: false })
    await quota(account, { minute: 1, hour: 1 })
    await api(account.key).get(PATH)
    expect((await api(account.key).get('/v2/pods/x')).status).toBe(429)
    expect((await api('pp_bad').get(PATH)).status).toBe(401)
  })

  it('[RATE-5] 100 callers at once spend exactly the quota', async () => {
    const account = await createAccount({ exempt: false })
    await quota(account, { minute: 1000, hour: 17 })
    const replies = await Promise.all(Array.from({ length: 100 }, () => api(account.key).get(PATH)))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(17)
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(83)
  })

  it('[RATE-8] a read beyond the limit returns none of its data, and later ones are not read', async () => {
    const account = await createAccount({ exempt: false })
    const id = await placed(await FakeHost.join(gpus(1, LONE_TYPE)), { compute: compute(LONE_TYPE) }, account)
    const read = () => api(account.key).get(`/v2/pods/${id}`)
    await quota(account, { minute: 1000, hour: 2 })
    expect((await read()).headers.get('etag')).not.toBeNull()
    await read()
    const first = await read()
    expect([first.status, first.headers.get('etag'), first.headers.get('content-type'), first.body.name]).toEqual([
      429,
      null,
      'application/problem+json',
      undefined,
    ])
    const calls = watchDatabase()
    expect((await read()).status).toBe(429)
    expect(calls).toEqual([])
    vi.restoreAllMocks()
  })

  it('[RATE-8] a write does not start before it is counted', async () => {
    const account = await createAccount({ exempt: false })
    await quota(account, { minute: 1000, hour: 1 })
    await api(account.key).get(PATH)
    expect((await api(account.key).post('/v2/templates', { name: 'x', image: 'acme/x:1' })).status).toBe(429)
    const kept = env.DB.prepare('SELECT COUNT(*) AS n FROM templates WHERE team_id = ?').bind(await teamOf(account))
    expect(await kept.first('n')).toBe(0)
  })

  it('[RATE-1] the job API has limits of its own: it spends nothing here', async () => {
    const account = await createAccount({ exempt: false })
    await quota(account, { minute: 1, hour: 1 })
    await api(account.key).get(PATH)
    const reply = await api(account.key).get('/v2/nosuchendpoint/health')
    expect(reply.status).toBe(404)
    expect(reply.headers.get('ratelimit')).toBeNull()
  })

  it('[AUT-4a] changed quotas apply without a new key', async () => {
    const account = await createAccount({ exempt: false })
    await quota(account, { minute: 1000, hour: 1 })
    await api(account.key).get(PATH)
    expect((await api(account.key).get(PATH)).status).toBe(429)
    await quota(account, { minute: 1000, hour: 5 })
    expect((await api(account.key).get(PATH)).status).toBe(200)
  })

  it('[RATE-1] a user spends the same requests with each key, and none of another member of the account', async () => {
    const [owner, member] = [await createAccount({ exempt: false }), await createAccount({ exempt: false })]
    await quota(owner, { minute: 1000, hour: 2 })
    const second = await createKey(owner.userId)
    const team = await teamOf(owner)
    await env.DB.batch([
      env.DB.prepare("INSERT INTO memberships (team_id, user_id, role, created_at) VALUES (?, ?, 'ADMIN', 0)").bind(team, member.userId),
      env.DB.prepare('UPDATE api_keys SET team_id = ? WHERE id = ?').bind(team, member.keyId),
    ])
    expect((await api(owner.key).get(PATH)).status).toBe(200)
    expect((await api(second.key).get(PATH)).status).toBe(200)
    expect((await api(owner.key).get(PATH)).status).toBe(429)
    expect((await api(member.key).get(PATH)).headers.get('ratelimit')).toContain('"hour";r=1;')
  })

  it("[RATE-1] [CAP-1] a pod's key spends no request of the account's owner, and as many of its own", async () => {
    const owner = await createAccount({ exempt: false })
    await quota(owner, { minute: 1000, hour: 2 })
    const pod = await insertPod(await teamOf(owner))
    const id = pod.replaceAll('-', '')
    await env.DB.prepare('UPDATE pods SET id = ? WHERE id = ?').bind(id, pod).run()
    const podKey = await issuePodKey(env, id)
    await api(podKey).get(`/v2/pods/${id}/nosuch`)
    expect((await api(owner.key).get(PATH)).headers.get('ratelimit')).toContain('"hour";r=1;')
    expect((await api(podKey).get(`/v2/pods/${id}/nosuch`)).headers.get('ratelimit')).toContain('"hour";r=0;')
    expect((await api(podKey).get(`/v2/pods/${id}/nosuch`)).status).toBe(429)
    expect((await api(owner.key).get(PATH)).status).toBe(200)
  })

  it('[RATE-7] requests are served without counting while the counter is unavailable, and this is logged', async () => {
    const account = await createAccount({ exempt: false })
    await quota(account, { minute: 1 })
    const away = { take: () => Promise.reject(new Error('the object is overloaded')) }
    const get = vi.spyOn(env.RATE_LIMITER, 'get').mockReturnValue(away as unknown as ReturnType<typeof env.RATE_LIMITER.get>)
    const log = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const replies = [await api(account.key).get(PATH), await api(account.key).get(PATH)]
    expect(replies.map(({ status, headers }) => [status, headers.get('ratelimit')])).toEqual([
      [200, null],
      [200, null],
    ])
    expect(JSON.stringify(log.mock.calls)).toContain('a request could not be counted')
    get.mockRestore()
    log.mockRestore()
    const counted = await api(account.key).get(PATH)
    expect([counted.status, counted.headers.get('ratelimit')]).toEqual([200, expect.stringContaining('"minute";r=0;')])
  })

  it('[RATE-5] a new window starts at its border', async () => {
    const account = await createAccount({ exempt: false })
    const stub = rateLimiterStub(env, account.userId)
    const noon = Date.UTC(2030, 0, 1, 12)
    const limits = { minute: 1, hour: 10, day: 10 }
    expect(await allowed(stub, limits, noon)).toBe(true)
    expect(await allowed(stub, limits, noon + 59_999)).toBe(false)
    expect(await allowed(stub, limits, noon + 60_000)).toBe(true)
  })

  it('[RATE-9] the counts survive their object, once they are stored', async () => {
    const account = await createAccount({ exempt: false })
    const stub = rateLimiterStub(env, account.userId)
    const noon = Date.UTC(2030, 0, 1, 12)
    const limits = { minute: 10, hour: 2, day: 10 }
    await allowed(stub, limits, noon)
    await allowed(stub, limits, noon)
    const stored = () =>
      runInDurableObject(stub, (_, { storage }) => storage.sql.exec("SELECT count FROM windows WHERE name = 'hour'").toArray())
    await until(async () => (await stored())[0]?.count === 2)
    await evictDurableObject(stub)
    expect(await allowed(stub, limits, noon)).toBe(false)
  })
})

describe('the counting object', () => {
  it('[RATE-21] has three rows and one page, however long it has counted', async () => {
    const { userId } = await createAccount()
    const stub = rateLimiterStub(env, userId)
    const quotas = { minute: 60, hour: 3000, day: 50_000 }
    const sizes = new Set<number>()
    for (let day = 0; day < 400; day += 1) {
      expect(await allowed(stub, quotas, Date.UTC(2026, 0, 1 + day))).toBe(true)
      if (day % 100 !== 99) continue
      // The counter stores within a second.
      const count = () =>
        runInDurableObject(
          stub,
          (_, { storage }) => storage.sql.exec('SELECT start_ms FROM windows WHERE name = ?', 'day').toArray()[0]?.start_ms,
        )
      await until(async () => (await count()) === Date.UTC(2026, 0, 1 + day))
      const rows = await runInDurableObject(stub, (_, { storage }) => {
        sizes.add(storage.sql.databaseSize)
        return storage.sql.exec('SELECT COUNT(*) AS n FROM windows').one().n
      })
      expect(rows).toBe(3)
    }
    expect(sizes.size).toBe(1)
  })
})
