import { MAX_MISSES } from '../../../src/domain/misses.ts'
import { dropCachedDecisions } from '../../../src/services/credentials/cached-decisions.ts'
import { auditRows } from '../../support/access/audited.ts'
import {
  admin,
  afterEach,
  api,
  createAccount,
  createEndpoint,
  createKey,
  createKeyIn,
  describe,
  env,
  expect,
  it,
  joinTeam,
  send,
  teamOf,
  vi,
} from '../../support/harness.ts'
import { Browser, PAGE } from '../../support/http/browser.ts'

const STATE = '/console/session'
const HTTPS = 'https://plane.test'
const PODS = '/v2/serverless'
const UNKNOWN = 'x'.repeat(43)

const rows = async (where = '1') => (await env.DB.prepare(`SELECT * FROM console_sessions WHERE ${where}`).all()).results
const link = async (userId: string, isOperator = false) =>
  String((await admin().post('/admin/v1/sign-in-links', { userId, isOperator })).body.link)
/** A session of a user by sign-in link, not one that acts as a key. */
async function byLink(userId: string, isOperator = false): Promise<Browser> {
  const browser = new Browser()
  expect((await browser.page('POST', STATE, { link: await link(userId, isOperator) })).status).toBe(201)
  return browser
}

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  dropCachedDecisions()
})

describe('a session', () => {
  it('[SESSION-1] is opened with a key, and its secret is known to the browser alone', async () => {
    const account = await createAccount()
    const response = await send(`${HTTPS}${STATE}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...PAGE },
      body: JSON.stringify({ key: account.key }),
    })
    const team = await teamOf(account)
    expect([response.status, await response.json()]).toEqual([
      201,
      {
        signedIn: true,
        user: { id: account.userId, email: account.email, name: account.email.split('@')[0] },
        accounts: [{ id: team, name: account.email, kind: 'USER', role: 'OWNER', scopes: expect.any(Array), isSuspended: false }],
        accountId: team,
        isOperator: false,
        signedInBy: 'KEY',
        createdAt: expect.any(String),
        expiresAt: expect.any(String),
        ways: { oidc: true, key: true },
        podProxyDomain: null,
      },
    ])
    const [cookie = '', ...others] = response.headers.getSetCookie()
    expect(others).toEqual([])
    expect(cookie).toMatch(/^__Host-podplane-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure$/)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const secret = /=([\w-]{43});/.exec(cookie)?.[1] ?? ''
    const [row] = await rows(`user_id = '${account.userId}'`)
    expect(row).toMatchObject({ made: 'KEY', key_id: account.keyId, is_operator: 0, revoked_at: null })
    expect(Number(row?.expires_at) - Number(row?.created_at)).toBe(12 * 3_600_000)
    for (const hidden of [secret, account.key]) expect(JSON.stringify(await rows())).not.toContain(hidden)
    expect((await auditRows('user_id = ? AND action = ?', account.userId, 'sessions.create')).map(({ after }) => after)).toEqual([
      { signedInBy: 'KEY', isOperator: false, expiresAt: expect.any(String) },
    ])
  })

  it('[SESSION-2] [SESSION-10] opens REST, the job API and GraphQL, and its cookie stays in that browser', async () => {
    const account = await createAccount()
    const endpoint = await createEndpoint(account.key)
    const browser = await Browser.signedIn(account.key)
    const answers = [
      await browser.page('GET', PODS),
      await browser.page('POST', '/v2/templates', { name: crypto.randomUUID(), image: 'acme/idle:1' }),
      await browser.page('GET', `/v2/${endpoint}/health`),
      await browser.page('POST', `/v2/${endpoint}/run`, { input: {} }),
      await browser.page('POST', '/graphql', { query: '{ myself { id } }' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 201, 200, 200, 200])
    expect(answers[4]?.body).toEqual({ data: { myself: { id: account.userId } } })
    for (const { headers } of answers) expect(headers.get('cache-control')).toMatch(/^private|no-store/)
    for (const { headers } of answers) expect(headers.get('vary')).toContain('Cookie')
    const byKey = await api(account.key).get(PODS)
    expect([byKey.headers.get('cache-control'), byKey.headers.get('vary')]).toEqual([null, null])
  })

  it('[SESSION-2] counts only without an Authorization header, even an invalid one', async () => {
    const browser = await Browser.signedIn((await createAccount()).key)
    const other = await createAccount()
    expect((await browser.page('GET', PODS, undefined, { Authorization: 'Bearer pp_nonsense' })).status).toBe(401)
    expect((await browser.page('GET', PODS, undefined, { Authorization: 'Basic eDp5' })).status).toBe(401)
    const reply = await browser.page('GET', '/v2/user', undefined, { Authorization: `Bearer ${other.key}` })
    expect(reply.body.id).toBe(other.userId)
  })

  it('[SESSION-2] opens no port of a pod and no load-balancing endpoint, because these belong to a tenant', async () => {
    const browser = await Browser.signedIn((await createAccount()).key)
    expect((await browser.page('GET', '/lb/nothing0000000/')).status).toBe(401)
    expect((await browser.page('GET', '/proxy/nothing0000000/8080/')).status).toBe(404)
  })

  it('[SESSION-3] of a key has the permissions of the key, and ends with it', async () => {
    const account = await createAccount()
    const { id, key } = await createKey(account.userId, { permission: 'RESTRICTED', scopes: ['serverless:read'] })
    const browser = await Browser.signedIn(key)
    expect((await browser.page('GET', PODS)).status).toBe(200)
    expect((await browser.page('POST', '/v2/templates', { name: 'x', image: 'acme/idle:1' })).status).toBe(403)
    const session = (await browser.page('GET', STATE)).body
    expect(session.accounts.map(({ scopes }: { scopes: string[] }) => scopes)).toEqual([['serverless:read']])
    await admin().delete(`/admin/v1/keys/${id}`)
    expect((await browser.page('GET', PODS)).status).toBe(401)
    expect((await browser.page('GET', STATE)).body.signedIn).toBe(false)
  })

  it('[SESSION-3] of a key that is revoked elsewhere ends within 60 s', async () => {
    const account = await createAccount()
    const browser = await Browser.signedIn(account.key)
    expect((await browser.page('GET', PODS)).status).toBe(200)
    // As in another isolate: the cache of this one is not cleared.
    await env.DB.prepare('UPDATE api_keys SET revoked_at = 1 WHERE id = ?').bind(account.keyId).run()
    expect((await browser.page('GET', PODS)).status).toBe(200)
    vi.useFakeTimers({ now: Date.now() + 60_000, toFake: ['Date'] })
    expect((await browser.page('GET', PODS)).status).toBe(401)
  })

  it('[SESSION-3] of a key of a member ends when the member leaves the team', async () => {
    const [owner, member] = [await createAccount(), await createAccount()]
    const team = await teamOf(owner)
    await joinTeam(team, member, 'DEV')
    const { key } = await createKeyIn(team, member)
    const browser = await Browser.signedIn(key)
    expect((await browser.page('GET', STATE)).body).toMatchObject({ accountId: team, accounts: [{ id: team, role: 'DEV' }] })
    await env.DB.prepare('DELETE FROM memberships WHERE team_id = ? AND user_id = ?').bind(team, member.userId).run()
    dropCachedDecisions()
    expect((await browser.page('GET', PODS)).status).toBe(401)
  })

  it('[SESSION-1] ends after 12 hours, whatever its use', async () => {
    const browser = await Browser.signedIn((await createAccount()).key)
    const startMs = Date.now()
    vi.useFakeTimers({ now: startMs + 12 * 3_600_000 - 5_000, toFake: ['Date'] })
    expect((await browser.page('GET', PODS)).status).toBe(200)
    vi.setSystemTime(startMs + 12 * 3_600_000 + 1)
    expect(await browser.page('GET', PODS)).toMatchObject({ status: 401, body: { errors: ['the session has expired: sign in again'] } })
    dropCachedDecisions()
    expect((await browser.page('GET', PODS)).status).toBe(401)
  })

  it('[SESSION-9] ends at once here on sign-out, and its cookie is deleted', async () => {
    const account = await createAccount()
    const [browser, other] = [await Browser.signedIn(account.key), await Browser.signedIn(account.key)]
    const kept = new Map(browser.cookies)
    expect((await browser.page('DELETE', STATE)).status).toBe(204)
    expect(browser.cookies.size).toBe(0)
    for (const [name, value] of kept) browser.cookies.set(name, value)
    expect((await browser.page('GET', PODS)).status).toBe(401)
    expect((await other.page('GET', PODS)).status).toBe(200)
    expect((await browser.page('DELETE', STATE)).status).toBe(204)
    expect((await new Browser().page('DELETE', STATE)).status).toBe(204)
    expect((await auditRows('user_id = ? AND action = ?', account.userId, 'sessions.end')).length).toBe(1)
  })

  it('[SESSION-9] is never the one that a browser already has: a planted one is invalid', async () => {
    const [attacker, victim] = [await createAccount(), await createAccount()]
    const planted = (await Browser.signedIn(attacker.key)).secret ?? ''
    const browser = new Browser()
    browser.cookies.set('podplane-session', planted)
    expect((await browser.page('POST', STATE, { key: victim.key })).status).toBe(201)
    expect(browser.secret).not.toBe(planted)
    expect((await browser.page('GET', '/v2/user')).body.id).toBe(victim.userId)
    // The planted session has ended.
    browser.cookies.set('podplane-session', planted)
    expect((await browser.page('GET', '/v2/user')).status).toBe(401)
  })

  it.each([UNKNOWN, 'short', '', `${'x'.repeat(42)}'`, 'x'.repeat(5000)])('[SESSION-2] of the secret %j does not exist', async (secret) => {
    const browser = new Browser()
    browser.cookies.set('podplane-session', secret)
    expect((await browser.page('GET', PODS)).status).toBe(401)
    expect((await browser.page('GET', STATE)).body).toEqual({ signedIn: false, ways: { oidc: true, key: true } })
  })

  it('[SESSION-1] of one plane is invalid at another, even over the same database', async () => {
    const browser = await Browser.signedIn((await createAccount()).key)
    const { authenticate } = await import('../../../src/services/authenticate.ts')
    const shown = { secret: browser.secret ?? '', fault: null }
    expect((await authenticate(env, shown, Date.now())).ok).toBe(true)
    dropCachedDecisions()
    const other = { ...env, KEY_PEPPER: 'another-pepper-of-a-good-length' }
    expect(await authenticate(other, shown, Date.now())).toEqual({ ok: false, problem: 'invalidToken' })
  })

  it('[SESSION-8] over https does not use the cookie that any host below the domain could set', async () => {
    const browser = await Browser.signedIn((await createAccount()).key)
    const headers = { Cookie: `podplane-session=${browser.secret}` }
    expect((await send(PODS, { headers })).status).toBe(200)
    expect((await send(HTTPS + PODS, { headers })).status).toBe(401)
    // Behind a local proxy that terminates TLS.
    expect((await send(PODS, { headers: { ...headers, 'X-Forwarded-Proto': 'https' } })).status).toBe(401)
  })

  it('[SESSION-12] is looked up a limited number of times for wrong cookies, keys, links and operator keys of one address', async () => {
    // Failed look-ups are counted by window, and the stopped clock keeps all of these in one.
    vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
    const from = { 'X-Forwarded-For': '203.0.113.77' }
    const anyCaller = new Browser()
    // A refused credential is cached for seconds, so each try uses another one.
    const statuses = (length: number, one: (n: number) => Promise<{ status: number }>, first = 0) =>
      Promise.all(Array.from({ length }, async (_, n) => (await one(first + n)).status))
    const tries = async (one: (n: number) => Promise<{ status: number }>) => {
      expect(new Set(await statuses(MAX_MISSES, one))).toEqual(new Set([401]))
      expect(new Set(await statuses(20, one, MAX_MISSES))).toEqual(new Set([429]))
    }
    const cookie = (n: number) => String(n).padStart(43, 'y')
    await tries((n) => send(PODS, { headers: { ...from, Cookie: `podplane-session=${cookie(n)}` } }))
    await tries((n) => anyCaller.page('POST', STATE, { link: cookie(n) }, from))
    await tries((n) => anyCaller.page('POST', STATE, { key: `ppo_${n}` }, from))
    // Callers from other addresses sign in meanwhile.
    expect((await Browser.signedIn((await createAccount()).key)).secret).toBeDefined()
  })

  it.each([
    ['user there are 50 at most', 50, 'link'],
    ['key there are 10 at most', 10, 'key'],
  ] as const)('[S15] [SESSION-12] of one %s: the oldest ends, and none of another kind', async (_, most, way) => {
    const account = await createAccount()
    const signIn = { key: () => Browser.signedIn(account.key), link: () => byLink(account.userId) }
    const other = await signIn[way === 'key' ? 'link' : 'key']()
    const first = await signIn[way]()
    for (let n = 1; n < most; n += 1) await signIn[way]()
    const works = async (browser: Browser) => (await browser.page('GET', PODS)).status
    dropCachedDecisions()
    expect(await works(first)).toBe(200)
    const last = await signIn[way]()
    dropCachedDecisions()
    expect([await works(first), await works(last), await works(other)]).toEqual([401, 200, 200])
    expect((await rows(`user_id = '${account.userId}'`)).length).toBe(most + 1)
  })

  it('[SESSION-1] that has ended leaves its row until the next sign-in', async () => {
    const account = await createAccount()
    await Browser.signedIn(account.key)
    await env.DB.prepare('UPDATE console_sessions SET expires_at = 1 WHERE user_id = ?').bind(account.userId).run()
    await Browser.signedIn((await createAccount()).key)
    expect(await rows(`user_id = '${account.userId}'`)).toEqual([])
  })

  it('[SESSION-1] is not opened by a key of a pod, of a host or of no user', async () => {
    for (const key of ['pp_nonsense', 'ppk_0', 'eyJhbGciOiJub25lIn0.e30.', 'x']) {
      expect((await new Browser().page('POST', STATE, { key })).status, key).toBe(401)
    }
    const both = { key: 'a', link: 'b' }
    for (const body of [{}, both, { key: '' }, { token: 'x' }]) {
      expect((await new Browser().page('POST', STATE, body)).status, JSON.stringify(body)).toBe(422)
    }
  })
})

describe('a session of a user', () => {
  it('[SESSION-11] acts for the requested team, with the role there', async () => {
    const [owner, member] = [await createAccount(), await createAccount()]
    const team = await teamOf(owner)
    const own = await teamOf(member)
    await joinTeam(team, member, 'BASIC')
    const browser = await byLink(member.userId)
    const state = (await browser.page('GET', STATE)).body
    expect(state).toMatchObject({ accountId: own, signedInBy: 'LINK', isOperator: false })
    expect(state.accounts.map(({ id, role }: { id: string; role: string }) => [id, role]).toSorted()).toEqual(
      [
        [own, 'OWNER'],
        [team, 'BASIC'],
      ].toSorted(),
    )
    const there = await browser.page('GET', PODS, undefined, { 'X-Team-Id': team })
    const here = await browser.page('GET', PODS)
    const foreign = await browser.page('GET', PODS, undefined, { 'X-Team-Id': 'nothing0000000' })
    expect([there, here, foreign].map(({ headers }) => headers.get('x-account-id'))).toEqual([team, own, own])
    const body = { name: crypto.randomUUID(), image: 'acme/idle:1' }
    expect((await browser.page('POST', '/v2/templates', body, { 'X-Team-Id': team })).status).toBe(403)
    expect((await browser.page('POST', '/v2/templates', body)).status).toBe(201)
    expect((await browser.page('GET', STATE, undefined, { 'X-Team-Id': team })).body.accountId).toBe(team)
    await env.DB.prepare('DELETE FROM memberships WHERE team_id = ? AND user_id = ?').bind(team, member.userId).run()
    dropCachedDecisions()
    const removed = await browser.page('GET', PODS, undefined, { 'X-Team-Id': team })
    expect(removed.headers.get('x-account-id')).toBe(own)
  })

  it('[SESSION-11] of a suspended account is refused with the reason', async () => {
    const account = await createAccount()
    const browser = await byLink(account.userId)
    await admin().post(`/admin/v1/users/${account.userId}/suspend`)
    expect((await browser.page('GET', PODS)).status).toBe(403)
    expect((await browser.page('GET', STATE)).body.accounts).toMatchObject([{ isSuspended: true }])
  })

  it('[SESSION-17] ends everywhere when the operator ends it or deletes the user', async () => {
    const account = await createAccount()
    const [one, two] = [await byLink(account.userId), await Browser.signedIn(account.key)]
    expect((await admin().delete(`/admin/v1/users/${account.userId}/sessions`)).status).toBe(204)
    expect([(await one.page('GET', PODS)).status, (await two.page('GET', PODS)).status]).toEqual([401, 401])
    expect((await api(account.key).get(PODS)).status).toBe(200)
    expect((await admin().delete(`/admin/v1/users/${account.userId}/sessions`)).status).toBe(204)
    expect((await admin().delete('/admin/v1/users/nothing0000000/sessions')).status).toBe(404)
    const again = await byLink(account.userId)
    expect((await admin().delete(`/admin/v1/users/${account.userId}`)).status).toBe(200)
    expect((await again.page('GET', PODS)).status).not.toBe(200)
  })
})

describe('a sign-in link', () => {
  it('[SESSION-15] signs in once, within 12 hours', async () => {
    const account = await createAccount()
    const { status, body } = await admin().post('/admin/v1/sign-in-links', { userId: account.userId })
    expect([status, body]).toEqual([
      201,
      { link: expect.any(String), path: `/console/sign-in#link=${body.link}`, expiresAt: expect.any(String) },
    ])
    const stored = JSON.stringify((await env.DB.prepare('SELECT * FROM sign_in_links').all()).results)
    expect(stored).not.toContain(body.link)
    const [first, second] = [new Browser(), new Browser()]
    expect((await first.page('POST', STATE, { link: body.link })).status).toBe(201)
    expect(await second.page('POST', STATE, { link: body.link })).toMatchObject({
      status: 401,
      body: { errors: ['this link was already used or has expired: ask for a new one'] },
    })
    expect((await first.page('GET', '/v2/user')).body.id).toBe(account.userId)
    expect((await first.page('GET', '/admin/v1/users')).status).toBe(401)
    const late = await link(account.userId)
    vi.useFakeTimers({ now: Date.now() + 12 * 3_600_000, toFake: ['Date'] })
    expect((await second.page('POST', STATE, { link: late })).status).toBe(401)
  })

  it('[SESSION-15] is used once when many open it at a time', async () => {
    const secret = await link((await createAccount()).userId)
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async () => (await new Browser().page('POST', STATE, { link: secret })).status),
    )
    expect(statuses.toSorted()).toEqual([201, ...Array(7).fill(401)])
  })

  it('[SESSION-15] is for an existing user', async () => {
    expect((await admin().post('/admin/v1/sign-in-links', { userId: 'nothing0000000' })).status).toBe(404)
    const account = await createAccount()
    const secret = await link(account.userId)
    await admin().delete(`/admin/v1/users/${account.userId}`)
    expect((await new Browser().page('POST', STATE, { link: secret })).status).toBe(401)
  })
})

describe('an operator', () => {
  it('[SESSION-14] by sign-in with the operator key opens the operator API, and no account', async () => {
    const browser = await Browser.signedIn(env.OPERATOR_KEY)
    expect((await browser.page('GET', STATE)).body).toMatchObject({
      user: null,
      accounts: [],
      accountId: null,
      isOperator: true,
      signedInBy: 'OPERATOR_KEY',
    })
    expect((await browser.page('GET', '/admin/v1/users')).status).toBe(200)
    expect((await browser.page('GET', PODS)).status).toBe(401)
    expect((await browser.page('POST', '/admin/v1/users', { email: `${crypto.randomUUID()}@example.com` })).status).toBe(201)
  })

  it('[SESSION-14] loses the session when the operator key changes', async () => {
    const browser = await Browser.signedIn(env.OPERATOR_KEY)
    const { identifyOperator } = await import('../../../src/services/authenticate.ts')
    const visit = { source: () => null, waitUntil: () => undefined }
    const shown = { secret: browser.secret ?? '', fault: null }
    dropCachedDecisions()
    expect((await identifyOperator({ ...env, OPERATOR_KEY: 'ppo_another-operator-key' }, shown, Date.now(), visit)).ok).toBe(false)
    dropCachedDecisions()
    expect((await identifyOperator(env, shown, Date.now(), visit)).ok).toBe(true)
  })

  it('[SESSION-13] by session is named in the audit log, and appears to tenants as the operator', async () => {
    const [operator, tenant] = [await createAccount(), await createAccount()]
    const browser = await byLink(operator.userId, true)
    expect((await browser.page('GET', STATE)).body.isOperator).toBe(true)
    const quotas = { minute: 60, hour: 3000, day: 50000, exempt: true }
    expect((await browser.page('PUT', `/admin/v1/users/${tenant.userId}/quotas`, quotas)).status).toBe(200)
    const [row] = await auditRows('resource_id = ? AND action = ? AND user_id IS NOT NULL', tenant.userId, 'quotas.set')
    expect(row).toMatchObject({ actorKind: 'OPERATOR', userId: operator.userId, credentialId: expect.stringMatching(/^[0-9a-f]{32}$/) })
    const seen = (await api(tenant.key).get(`/v2/account/audit?resource=${tenant.userId}&action=quotas.set`)).body.entries
    for (const { actor } of seen) expect(actor).toEqual({ kind: 'OPERATOR', userId: null, credentialId: null })
    expect(seen.length).toBeGreaterThan(0)
  })

  it('[SESSION-13] is not recognised by the session of a user or of a key, and needs a page of the plane as all callers do', async () => {
    const account = await createAccount()
    const [byKey, byUser, operator] = [
      await Browser.signedIn(account.key),
      await byLink(account.userId),
      await byLink(account.userId, true),
    ]
    for (const browser of [byKey, byUser]) expect((await browser.page('GET', '/admin/v1/users')).status).toBe(401)
    expect((await operator.page('GET', '/admin/v1/users')).status).toBe(200)
    const before = await rows()
    expect((await operator.ask('DELETE', `/admin/v1/users/${account.userId}/sessions`)).status).toBe(401)
    expect(await rows()).toEqual(before)
    await admin().post(`/admin/v1/users/${account.userId}/suspend`)
    expect((await operator.page('GET', '/admin/v1/users')).status).toBe(401)
  })
})
