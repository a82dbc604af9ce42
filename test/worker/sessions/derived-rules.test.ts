import { writeParent } from '../../../src/domain/session/parent.ts'
import { authenticate, identifyOperator, isStillGood } from '../../../src/services/authenticate.ts'
import { dropCachedDecisions } from '../../../src/services/credentials/cached-decisions.ts'
import { enrolHost } from '../../../src/services/hosts/host-enrolment.ts'
import { signInWithLink } from '../../../src/services/sessions/sign-in-links.ts'
import { auditRows } from '../../support/access/audited.ts'
import { VISIT, where } from '../../support/access/derived/world.ts'
import {
  type Account,
  admin,
  afterEach,
  api,
  createAccount,
  createKey,
  createKeyIn,
  createOrganization,
  describe,
  env,
  expect,
  it,
  joinTeam,
  vi,
} from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { Browser } from '../../support/http/browser.ts'

const STATE = '/console/session'
const DEVICE = '/console/device'
const LINKS = '/admin/v1/sign-in-links'
/** The plane after its operator key was rotated. */
const ROTATED = { ...env, OPERATOR_KEY: 'ppo_another-operator-key-of-the-plane' }

const link = async (userId: string, isOperator = false): Promise<string> => (await admin().post(LINKS, { userId, isOperator })).body.link
async function byLink(userId: string, isOperator = false): Promise<Browser> {
  const browser = new Browser()
  expect((await browser.page('POST', STATE, { link: await link(userId, isOperator) })).status).toBe(201)
  return browser
}
/** A command line that was approved in a browser. */
async function deviceOf(browser: Browser): Promise<() => Promise<{ status: number; body: Record<string, string> }>> {
  const { body } = await api(null).post(DEVICE, { name: 'test' })
  expect((await browser.page('POST', `${DEVICE}/approve`, { userCode: body.user_code })).status).toBe(200)
  return () => api(null).post(`${DEVICE}/token`, { device_code: body.device_code })
}
const handedOut = async (browser: Browser) => (await (await deviceOf(browser))()).body as { access_token: string; key_id: string }
const keysOf = async ({ userId }: Account) =>
  (await env.DB.prepare('SELECT id, revoked_at FROM api_keys WHERE user_id = ? ORDER BY id').bind(userId).all()).results
const rowsOf = async (table: 'sign_in_links' | 'console_sessions', userId: string) =>
  (await env.DB.prepare(`SELECT * FROM ${table} WHERE user_id = ?`).bind(userId).all()).results
const shownBy = (browser: Browser) => ({ secret: browser.secret ?? '', fault: null })

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  dropCachedDecisions()
})

describe('an operator’s link', () => {
  it('[S4] [DER-3] made with a stolen operator key opens nothing after the rotation, and neither does a session that it has opened', async () => {
    const account = await createAccount()
    const [kept, used] = [await link(account.userId, true), await byLink(account.userId, true)]
    const nextGeneration = async () => (await used.page('POST', LINKS, { userId: account.userId })).body.link as string
    const next = await nextGeneration()
    expect((await identifyOperator(env, shownBy(used), Date.now(), VISIT)).ok).toBe(true)
    dropCachedDecisions()
    const before = await rowsOf('console_sessions', account.userId)
    expect((await identifyOperator(ROTATED, shownBy(used), Date.now(), VISIT)).ok).toBe(false)
    expect((await authenticate(ROTATED, shownBy(used), Date.now(), VISIT)).ok).toBe(false)
    for (const secret of [kept, next])
      expect(await signInWithLink(where(ROTATED), secret, VISIT)).toMatchObject({ problem: 'invalidToken' })
    expect(await rowsOf('console_sessions', account.userId)).toEqual(before)
    // With the current key the link is valid.
    dropCachedDecisions()
    expect(await signInWithLink(where(env), kept, VISIT)).toMatchObject({ secret: expect.any(String) })
  })

  it("[S4] [DER-3] and its session of the previous version, which name no maker, open nothing; a user's session continues", async () => {
    const account = await createAccount()
    const [operator, user, unused] = [await byLink(account.userId, true), await byLink(account.userId), await link(account.userId)]
    await env.DB.prepare('UPDATE console_sessions SET parent = NULL WHERE user_id = ?').bind(account.userId).run()
    await env.DB.prepare('UPDATE sign_in_links SET parent = NULL WHERE user_id = ?').bind(account.userId).run()
    dropCachedDecisions()
    expect((await operator.page('GET', '/admin/v1/users')).status).toBe(401)
    expect((await operator.page('GET', '/v2/user')).status).toBe(401)
    expect((await user.page('GET', '/v2/user')).status).toBe(200)
    expect((await new Browser().page('POST', STATE, { link: unused })).status).toBe(401)
  })

  it("[S4] [DER-4] cannot be made by a session by link, which makes users' links", async () => {
    const account = await createAccount()
    const operator = await byLink(account.userId, true)
    const before = await rowsOf('sign_in_links', account.userId)
    const refused = await operator.page('POST', LINKS, { userId: account.userId, isOperator: true })
    expect([refused.status, refused.body.detail]).toEqual([
      403,
      expect.stringMatching(/^isOperator: a session from a sign-in link cannot create operator links/),
    ])
    expect(await rowsOf('sign_in_links', account.userId)).toEqual(before)
    expect((await operator.page('POST', LINKS, { userId: account.userId })).status).toBe(201)
    const byKey = await Browser.signedIn(env.OPERATOR_KEY)
    expect((await byKey.page('POST', LINKS, { userId: account.userId, isOperator: true })).status).toBe(201)
  })

  it('[S4] [DER-1] ends open streams with it, as every parent does', async () => {
    const account = await createAccount()
    const operator = await byLink(account.userId, true)
    const byKey = await Browser.signedIn((await createKey(account.userId)).key)
    const { access_token: key } = await handedOut(operator)
    for (const shown of [shownBy(operator), `Bearer ${key}`]) {
      const opened = await authenticate(env, shown, Date.now(), VISIT)
      if (!opened.ok) throw new Error(opened.problem)
      expect(await isStillGood(env, shown, opened.principal, Date.now(), 0)).toBe(true)
      dropCachedDecisions()
      expect(await isStillGood(ROTATED, shown, opened.principal, Date.now(), 0)).toBe(false)
      dropCachedDecisions()
    }
    // A session that was made with a user's key does not depend on the operator key.
    expect((await authenticate(ROTATED, shownBy(byKey), Date.now(), VISIT)).ok).toBe(true)
  })
})

describe('signing a user out everywhere', () => {
  it('[S5] [DER-6] ends open links and approved devices, and leaves those of others', async () => {
    const [account, other] = [await createAccount(), await createAccount()]
    const [mine, theirs] = [await link(account.userId), await link(other.userId)]
    const device = await deviceOf(await byLink(account.userId))
    const before = await keysOf(account)
    expect((await admin().delete(`/admin/v1/users/${account.userId}/sessions`)).status).toBe(204)
    expect(await rowsOf('sign_in_links', account.userId)).toEqual([])
    expect((await new Browser().page('POST', STATE, { link: mine })).status).toBe(401)
    expect((await device()).body.error).toBe('access_denied')
    expect(await keysOf(account)).toEqual(before)
    expect((await new Browser().page('POST', STATE, { link: theirs })).status).toBe(201)
    const actions = (await auditRows('resource_id = ?', account.userId)).map(({ action }) => action)
    expect(actions).toEqual(expect.arrayContaining(['users.end-sessions', 'users.end-sign-in-links']))
  })
})

describe('an approved device', () => {
  it('[S5] [DER-7] by the session of a stolen key gets no key once that is revoked, and no second chance', async () => {
    const account = await createAccount()
    const stolen = await createKey(account.userId)
    const device = await deviceOf(await Browser.signedIn(stolen.key))
    expect((await admin().delete(`/admin/v1/keys/${stolen.id}`)).status).toBe(204)
    const before = await keysOf(account)
    expect((await device()).body.error).toBe('access_denied')
    vi.useFakeTimers({ now: Date.now() + 6_000, toFake: ['Date'] })
    expect((await device()).body.error).toBe('expired_token')
    expect(await keysOf(account)).toEqual(before)
  })

  it('[S5] [DER-7] by a user who is suspended since gets no key, also when the user is resumed', async () => {
    const account = await createAccount()
    const device = await deviceOf(await byLink(account.userId))
    expect((await admin().post(`/admin/v1/users/${account.userId}/suspend`)).status).toBe(200)
    const before = await keysOf(account)
    expect((await device()).body.error).toBe('access_denied')
    expect((await admin().post(`/admin/v1/users/${account.userId}/resume`)).status).toBe(200)
    vi.useFakeTimers({ now: Date.now() + 6_000, toFake: ['Date'] })
    expect((await device()).body.error).toBe('expired_token')
    expect(await keysOf(account)).toEqual(before)
  })
})

describe('the key of a device', () => {
  it('[S5] [DER-8] ends with the key that its session acted as, and so do the keys made with it', async () => {
    const account = await createAccount()
    const first = await createKey(account.userId)
    const { access_token: given, key_id: id } = await handedOut(await Browser.signedIn(first.key))
    const made = (await api(given).post('/v2/account/keys', { name: 'further' })).body.key
    const rotated = (await api(given).post(`/v2/account/keys/${id}/rotate`, {})).body.key
    const own = (await createKey(account.userId)).key
    const statuses = async () => Promise.all([given, made, rotated, own].map(async (key) => (await api(key).get('/v2/user')).status))
    expect(await statuses()).toEqual([200, 200, 200, 200])
    expect((await admin().delete(`/admin/v1/keys/${first.id}`)).status).toBe(204)
    expect(await statuses()).toEqual([401, 401, 401, 200])
  })

  it('[S5] [DER-8] rotates no key that does not end with it', async () => {
    const account = await createAccount()
    const [first, other] = [await createKey(account.userId), await createKey(account.userId)]
    const { access_token: given } = await handedOut(await Browser.signedIn(first.key))
    const before = await keysOf(account)
    for (const { id } of [first, other]) {
      const { status, body } = await api(given).post(`/v2/account/keys/${id}/rotate`, {})
      expect([status, body.detail]).toEqual([403, expect.stringContaining('rotate this key in the console')])
    }
    expect(await keysOf(account)).toEqual(before)
  })

  it('[DER-8] approves no other device', async () => {
    const account = await createAccount()
    const { access_token: given } = await handedOut(await Browser.signedIn(account.key))
    const browser = await Browser.signedIn(given)
    const { body } = await api(null).post(DEVICE, { name: 'next' })
    const before = JSON.stringify((await env.DB.prepare('SELECT * FROM device_logins').all()).results)
    expect((await browser.page('POST', `${DEVICE}/approve`, { userCode: body.user_code })).status).toBe(403)
    expect(JSON.stringify((await env.DB.prepare('SELECT * FROM device_logins').all()).results)).toBe(before)
  })
})

describe('a session that acts as a key', () => {
  it('[S5] [DER-28] keeps open streams as long as the key grants their scopes', async () => {
    const [owner, member] = [await createAccount(), await createAccount()]
    const team = await createOrganization(owner.key)
    await joinTeam(team, member, 'DEV')
    const browser = await Browser.signedIn((await createKeyIn(team, member)).key)
    const opened = await authenticate(env, shownBy(browser), Date.now(), VISIT)
    if (!opened.ok) throw new Error(opened.problem)
    expect(await isStillGood(env, shownBy(browser), opened.principal, Date.now(), 0)).toBe(true)
    await api(owner.key).patch(`/v2/organizations/${team}/members/${member.userId}`, { role: 'BILLING' })
    dropCachedDecisions()
    expect(await isStillGood(env, shownBy(browser), opened.principal, Date.now(), 0)).toBe(false)
  })
})

describe('credentials that a listed operator has made', () => {
  it.each(['identities', 'sessions'])(
    '[S4] [DER-6] [SESSION-17] end when the %s of the operator do: links, sessions, keys of devices',
    async (what) => {
      const [operator, account] = [await createAccount(), await createAccount()]
      const listed = { ...env, OIDC_OPERATORS: operator.email }
      const parent = { parent: writeParent({ kind: 'OPERATOR_ADDRESS', id: operator.userId }) }
      const [unused, browser] = [await link(account.userId), await byLink(account.userId)]
      const key = await createKey(account.userId)
      await env.DB.prepare('UPDATE sign_in_links SET parent = ?1 WHERE user_id = ?2').bind(parent.parent, account.userId).run()
      await env.DB.prepare('UPDATE console_sessions SET parent = ?1 WHERE user_id = ?2').bind(parent.parent, account.userId).run()
      await env.DB.prepare('UPDATE api_keys SET parent = ?1 WHERE id = ?2').bind(parent.parent, key.id).run()
      const open = async () => {
        dropCachedDecisions()
        const session = await authenticate(listed, shownBy(browser), Date.now(), VISIT)
        return [session.ok, (await authenticate(listed, `Bearer ${key.key}`, Date.now(), VISIT)).ok]
      }
      expect(await open()).toEqual([true, true])
      expect((await admin().delete(`/admin/v1/users/${operator.userId}/${what}`)).status).toBe(204)
      expect(await open()).toEqual([false, false])
      expect(await signInWithLink(where(listed), unused, VISIT)).toMatchObject({ problem: 'invalidToken' })
      // Keys of other users of the account stay valid.
      expect((await api(account.key).get('/v2/user')).status).toBe(200)
    },
  )
})

describe('credentials of an operator key apart from links', () => {
  it('[S4] [DER-17] stay valid after the rotation; the operator finds them in the audit log, and ends them', async () => {
    const account = await createAccount()
    const key = await createKey(account.userId)
    const tokens = []
    for (const name of ['joins', 'revoked']) tokens.push((await admin().post('/admin/v1/join-tokens', { name })).body)
    const [joins, revoked] = tokens
    const isGood = async () => (await authenticate(ROTATED, `Bearer ${key.key}`, Date.now(), VISIT)).ok
    const join = async (token: string) => enrolHost(ROTATED, await FakeHost.enrolment(token), null, Date.now())

    expect((await identifyOperator(ROTATED, `Bearer ${env.OPERATOR_KEY}`, Date.now(), VISIT)).ok).toBe(false)
    dropCachedDecisions()
    expect(await isGood()).toBe(true)
    const { hostId } = await join(joins.token)
    const found = await auditRows(
      "actor_kind = 'OPERATOR' AND user_id IS NULL AND action IN ('users.create', 'keys.create', 'join-tokens.create')",
    )
    expect(found.map(({ resourceId }) => resourceId)).toEqual(expect.arrayContaining([account.userId, key.id, joins.id, revoked.id]))

    expect((await admin().delete(`/admin/v1/keys/${key.id}`)).status).toBe(204)
    expect((await admin().delete(`/admin/v1/join-tokens/${revoked.id}`)).status).toBe(204)
    expect((await admin().delete(`/admin/v1/hosts/${hostId}`)).status).toBe(204)
    expect(await isGood()).toBe(false)
    await expect(join(revoked.token)).rejects.toThrow()
    await expect(join(joins.token)).rejects.toThrow()
  })
})
