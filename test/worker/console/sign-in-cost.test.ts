import { Problem } from '../../../src/contract/problems.ts'
import { dropCachedDecisions } from '../../../src/services/credentials/cached-decisions.ts'
import { signInWithKey } from '../../../src/services/sessions/console-sessions.ts'
import { auditRows } from '../../support/access/audited.ts'
import { VISIT, where } from '../../support/access/derived/world.ts'
import { type Account, admin, afterEach, api, createAccount, createKey, describe, env, expect, it, vi } from '../../support/harness.ts'
import { Browser } from '../../support/http/browser.ts'

const STATE = '/console/session'
const LINKS = '/admin/v1/sign-in-links'
const MINUTE_QUOTA = 60

/** Sets the clock to the start of a minute, so that all requests count in one window. */
const atMinute = () => vi.useFakeTimers({ now: Math.ceil(Date.now() / 60_000) * 60_000, toFake: ['Date'] })
const sessionsOf = async ({ userId }: Account) =>
  (await env.DB.prepare('SELECT id, revoked_at FROM console_sessions WHERE user_id = ? ORDER BY created_at').bind(userId).all()).results
const rowCount = async () => {
  const tables = (
    await env.DB.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '[_s]*'").all<{ name: string }>()
  ).results
  const counts = await env.DB.batch<{ n: number }>(tables.map(({ name }) => env.DB.prepare(`SELECT COUNT(*) AS n FROM ${name}`)))
  return counts.reduce((sum, { results }) => sum + (results[0]?.n ?? 0), 0)
}

afterEach(() => {
  vi.useRealTimers()
  dropCachedDecisions()
})

describe('signing in', () => {
  it('[S10] [DER-13] 3000 times with a key without any scope makes a bounded number of rows', async () => {
    const account = await createAccount({ exempt: false })
    const { key } = await createKey(account.userId, { permission: 'RESTRICTED', scopes: [] })
    atMinute()
    const before = await rowCount()
    const attempt = () =>
      signInWithKey(where(env), key, VISIT).then(
        (received) => ('secret' in received ? 'opened' : received.problem),
        (error: unknown) => (error instanceof Problem ? error.key : 'failed'),
      )
    const received: string[] = []
    for (let batch = 0; batch < 30; batch += 1) received.push(...(await Promise.all(Array.from({ length: 100 }, attempt))))
    const counted = Object.fromEntries([...new Set(received)].map((word) => [word, received.filter((other) => other === word).length]))
    expect(counted).toEqual({ opened: MINUTE_QUOTA, rateLimited: 3000 - MINUTE_QUOTA })
    // Each sign-in adds a session and a row of the audit log; at most 10 sessions remain.
    expect((await rowCount()) - before).toBeLessThanOrEqual(2 * MINUTE_QUOTA)
    expect(await sessionsOf(account)).toHaveLength(10)
  })

  it('[S10] [DER-13] by key and by link counts for the user, shows the remaining requests, and leaves an unused link valid', async () => {
    const account = await createAccount({ exempt: false })
    const { body } = await admin().post(LINKS, { userId: account.userId })
    atMinute()
    const first = await new Browser().page('POST', STATE, { key: account.key })
    expect([first.status, first.headers.get('ratelimit')]).toEqual([201, expect.stringMatching(/^"minute";r=59;/)])
    for (let n = 1; n < MINUTE_QUOTA; n += 1) await api(account.key).get('/v2/user')
    const before = [await sessionsOf(account), await auditRows('user_id = ?', account.userId)]
    for (const by of [{ key: account.key }, { link: body.link }]) {
      const refused = await new Browser().page('POST', STATE, by)
      expect([refused.status, refused.body.detail]).toEqual([429, 'rate limit exceeded for the minute window'])
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(refused.headers.get('ratelimit')).toMatch(/^"minute";r=0;/)
    }
    expect([await sessionsOf(account), await auditRows('user_id = ?', account.userId)]).toEqual(before)
    vi.setSystemTime(Date.now() + 60_000)
    expect((await new Browser().page('POST', STATE, { link: body.link })).status).toBe(201)
  })

  it('[S10] [DER-13] counts too for approving and denying a device', async () => {
    const account = await createAccount({ exempt: false })
    const browser = await Browser.signedIn(account.key)
    atMinute()
    for (let n = 0; n < MINUTE_QUOTA; n += 1) await api(account.key).get('/v2/user')
    const { body } = await api(null).post('/console/device', { name: 'late' })
    const before = (await env.DB.prepare('SELECT * FROM device_logins').all()).results
    for (const verb of ['approve', 'deny']) {
      expect((await browser.page('POST', `/console/device/${verb}`, { userCode: body.user_code })).status).toBe(429)
    }
    expect((await env.DB.prepare('SELECT * FROM device_logins').all()).results).toEqual(before)
  })

  it('[S10] [DER-14] deletes ended sessions of the user, and of no other user', async () => {
    const [account, other] = [await createAccount(), await createAccount()]
    for (const { key } of [account, other]) await (await Browser.signedIn(key)).page('DELETE', STATE)
    const [ended] = await sessionsOf(account)
    expect(ended?.revoked_at).toEqual(expect.any(Number))
    await Browser.signedIn(account.key)
    expect((await sessionsOf(account)).map(({ revoked_at }) => revoked_at)).toEqual([null])
    expect(await sessionsOf(other)).toHaveLength(1)
  })
})

describe('a sign-in link', () => {
  it('[S13] [DER-15] names its user, and stays valid afterwards', async () => {
    const account = await createAccount()
    const { body } = await admin().post(LINKS, { userId: account.userId, isOperator: true })
    const browser = new Browser()
    const described = await browser.page('POST', `${STATE}/link`, { link: body.link })
    expect([described.status, described.body, described.headers.get('cache-control')]).toEqual([
      200,
      { user: { id: account.userId, email: account.email }, isOperator: true, expiresAt: body.expiresAt },
      'no-store',
    ])
    expect([browser.secret, await sessionsOf(account)]).toEqual([undefined, []])
    expect((await browser.page('POST', STATE, { link: body.link })).status).toBe(201)
    expect((await browser.page('POST', `${STATE}/link`, { link: body.link })).status).toBe(401)
    for (const link of ['x', 'x'.repeat(43)]) expect((await browser.page('POST', `${STATE}/link`, { link })).status).toBe(401)
  })

  it('[S13] [DER-15] names its user to pages of the plane alone', async () => {
    const account = await createAccount()
    const { body } = await admin().post(LINKS, { userId: account.userId })
    expect((await new Browser().ask('POST', `${STATE}/link`, { link: body.link })).status).toBe(403)
  })
})
