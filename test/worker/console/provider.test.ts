import { MAX_MISSES } from '../../../src/domain/misses.ts'
import { sha256Base64Url } from '../../../src/platform/crypto.ts'
import { dropCachedDecisions } from '../../../src/services/credentials/cached-decisions.ts'
import * as codeFlow from '../../../src/services/sessions/code-flow.ts'
import { dropProviderEndpoints } from '../../../src/services/sessions/provider-endpoints.ts'
import { dropProviderKeys } from '../../../src/services/sessions/provider-keys.ts'
import { auditRows } from '../../support/access/audited.ts'
import { lookAlikesOf } from '../../support/access/look-alikes.ts'
import { FakeProvider, ISSUER } from '../../support/access/provider.ts'
import { admin, afterEach, beforeEach, createAccount, describe, env, expect, it, ORIGIN, type Reply, vi } from '../../support/harness.ts'
import { Browser } from '../../support/http/browser.ts'

const START = '/console/sign-in/start'
const CLIENT = 'console'

let provider: FakeProvider
beforeEach(async () => {
  dropCachedDecisions()
  dropProviderKeys()
  dropProviderEndpoints()
  provider = await FakeProvider.start()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** A browser that was redirected to the provider, with the parameters of that redirect. */
async function led(browser = new Browser(), returnTo?: string): Promise<{ browser: Browser; asked: URLSearchParams; reply: Reply }> {
  const reply = await browser.ask('GET', START + (returnTo === undefined ? '' : `?return=${encodeURIComponent(returnTo)}`))
  return { browser, asked: new URL(reply.headers.get('location') ?? '').searchParams, reply }
}

/** Makes the provider issue a code for an ID token. */
async function giveCode(asked: URLSearchParams, claims: Record<string, unknown> = {}): Promise<string> {
  const code = crypto.randomUUID()
  const token = await provider.token({ aud: CLIENT, nonce: asked.get('nonce'), ...claims })
  provider.codes.set(code, { id_token: token, access_token: 'opaque', token_type: 'Bearer' })
  return code
}

const back = (browser: Browser, query: Record<string, string | null>) => {
  const given = Object.entries(query).flatMap(([name, value]) => (value === null ? [] : [[name, value]]))
  return browser.ask('GET', `/console/callback?${new URLSearchParams(given)}`, undefined, { 'Sec-Fetch-Site': 'cross-site' })
}

async function signIn(claims: Record<string, unknown> = {}, browser = new Browser()): Promise<{ browser: Browser; reply: Reply }> {
  const { asked } = await led(browser)
  const code = await giveCode(asked, claims)
  return { browser, reply: await back(browser, { code, state: asked.get('state') }) }
}

const stateOf = async (browser: Browser) => (await browser.page('GET', '/console/session')).body
const counts = async () =>
  (
    await env.DB.prepare(
      'SELECT (SELECT COUNT(*) FROM users) AS users, (SELECT COUNT(*) FROM identities) AS identities, (SELECT COUNT(*) FROM console_sessions) AS sessions',
    ).all()
  ).results

/** Expects no session, and the reason in the redirect to the sign-in page. */
async function expectFailed(attempt: () => Promise<{ browser: Browser; reply: Reply }>, reason: string): Promise<void> {
  const before = await counts()
  const { browser, reply } = await attempt()
  expect([reply.status, reply.headers.get('location'), browser.secret]).toEqual([302, `/console/sign-in?reason=${reason}`, undefined])
  expect(await counts()).toEqual(before)
}

describe('signing in at the provider', () => {
  it('[SESSION-22] redirects there with PKCE, state and nonce, and keeps the rest sealed in the browser', async () => {
    const { browser, asked, reply } = await led()
    expect(reply.status).toBe(302)
    expect(reply.headers.get('location')).toMatch(/^https:\/\/id\.example\.com\/authorize\?tenant=1&/)
    expect(Object.fromEntries(asked)).toEqual({
      tenant: '1',
      response_type: 'code',
      client_id: CLIENT,
      redirect_uri: `${ORIGIN}/console/callback`,
      scope: 'openid email',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    const [cookie = ''] = reply.headers.getSetCookie()
    expect(cookie).toMatch(/^podplane-sign-in=pps1\.[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/)
    for (const secret of [asked.get('state'), asked.get('nonce')]) expect(cookie).not.toContain(secret)
    expect([reply.headers.get('cache-control'), reply.headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer'])
    const secure = await new Browser('https://plane.test').ask('GET', START)
    expect(secure.headers.getSetCookie()[0]).toMatch(/^__Host-podplane-sign-in=.*; Secure$/)
    expect(secure.headers.get('location')).toContain(encodeURIComponent('https://plane.test/console/callback'))
    expect((await led(browser)).asked.get('state')).not.toBe(asked.get('state'))
  })

  it('[SESSION-23] [SESSION-24] makes the user on first sign-in, and opens a session under a separate cookie', async () => {
    const { browser, asked } = await led(new Browser(), '/console/pods?status=RUNNING')
    const sub = crypto.randomUUID()
    const code = await giveCode(asked, { sub, email: `${sub}@example.com` })
    const reply = await back(browser, { code, state: asked.get('state'), iss: ISSUER })
    expect([reply.status, reply.headers.get('location')]).toEqual([302, '/console/pods?status=RUNNING'])
    expect([...browser.cookies.keys()]).toEqual(['podplane-session'])
    expect(await stateOf(browser)).toMatchObject({
      signedIn: true,
      user: { email: `${sub}@example.com` },
      signedInBy: 'OIDC',
      isOperator: false,
      ways: { oidc: true, key: true },
    })
    const { form, authorization } = provider.exchanges[0] ?? {}
    expect(Object.fromEntries(form ?? [])).toEqual({
      grant_type: 'authorization_code',
      client_id: CLIENT,
      code,
      redirect_uri: `${ORIGIN}/console/callback`,
      code_verifier: expect.any(String),
    })
    expect(authorization).toBeNull()
    expect(await sha256Base64Url(form?.get('code_verifier') ?? '')).toBe(asked.get('code_challenge'))
    const { id: userId } = (await stateOf(browser)).user
    expect((await auditRows('user_id = ?', userId)).map(({ action, after }) => [action, after])).toEqual([
      ['users.create', { issuer: ISSUER, subject: sub }],
      ['sessions.create', { signedInBy: 'OIDC', isOperator: false, expiresAt: expect.any(String) }],
    ])
    // The next sign-in returns the same user.
    const again = await signIn({ sub, email: undefined, email_verified: undefined })
    expect((await stateOf(again.browser)).user.id).toBe(userId)
  })

  it('[SESSION-24] links an account that was made for the address', async () => {
    const account = await createAccount()
    const { browser } = await signIn({ email: account.email })
    expect((await stateOf(browser)).user.id).toBe(account.userId)
  })

  it('[SESSION-24] requests the address where the ID token lacks it, and accepts it only for the same subject', async () => {
    const sub = crypto.randomUUID()
    const thin = { sub, email: undefined, email_verified: undefined }
    provider.userInfo = { sub: 'somebody else', email: 'victim@example.com', email_verified: true }
    await expectFailed(() => signIn(thin), 'email')
    provider.userInfo = null
    await expectFailed(() => signIn(thin), 'email')
    provider.userInfo = { sub, email: `${sub}@example.com`, email_verified: true }
    expect((await stateOf((await signIn(thin)).browser)).user.email).toBe(`${sub}@example.com`)
  })

  it('[SESSION-9] ends the session that the browser had', async () => {
    const account = await createAccount()
    const browser = await Browser.signedIn(account.key)
    const previous = browser.secret ?? ''
    await signIn({}, browser)
    expect(browser.secret).not.toBe(previous)
    const other = new Browser()
    other.cookies.set('podplane-session', previous)
    expect((await other.page('GET', '/v2/user')).status).toBe(401)
  })

  it('[SESSION-17] ends when the operator forgets the identity', async () => {
    const { browser } = await signIn()
    const { id } = (await stateOf(browser)).user
    expect((await admin().delete(`/admin/v1/users/${id}/identities`)).status).toBe(204)
    expect((await stateOf(browser)).signedIn).toBe(false)
  })

  it('[DER-31] is refused with a token from before that', async () => {
    const claims = { sub: crypto.randomUUID(), email: `${crypto.randomUUID()}@example.com` }
    const { id } = (await stateOf((await signIn(claims)).browser)).user
    expect((await admin().delete(`/admin/v1/users/${id}/identities`)).status).toBe(204)
    await expectFailed(() => signIn(claims), 'expired')
    const { browser } = await signIn({ ...claims, iat: Math.floor(Date.now() / 1000) + 60 })
    expect((await stateOf(browser)).user.id).toBe(id)
  })
})

describe('a user who signs in often', () => {
  it('[S10] [DER-13] [SESSION-25] uses up their requests, is refused, and gets no other session', async () => {
    const sub = crypto.randomUUID()
    const claims = { sub, email: `${sub}@example.com` }
    const first = await signIn(claims)
    expect(first.reply.headers.get('ratelimit')).toMatch(/^"minute";r=59;/)
    vi.useFakeTimers({ now: Math.ceil(Date.now() / 60_000) * 60_000, toFake: ['Date'] })
    for (let n = 0; n < 60; n += 1) await first.browser.page('GET', '/v2/user')
    await expectFailed(() => signIn(claims), 'often')
  })
})

describe('an operator', () => {
  it('[SESSION-13] is a user who signs in with a verified address of the list, as long as it is listed', async () => {
    const { browser } = await signIn({ email: 'root@example.com', sub: 'root' })
    expect((await stateOf(browser)).isOperator).toBe(true)
    expect((await browser.page('GET', '/admin/v1/users')).status).toBe(200)
    const { identifyOperator } = await import('../../../src/services/authenticate.ts')
    const shown = { secret: browser.secret ?? '', fault: null }
    const visit = { source: () => null, waitUntil: () => undefined }
    expect((await identifyOperator({ ...env, OIDC_OPERATORS: 'ops@example.com' }, shown, Date.now(), visit)).ok).toBe(false)
    // A user with another address at the provider is not an operator.
    const moved = await signIn({ email: 'moved@example.com', sub: 'root' })
    expect((await stateOf(moved.browser)).isOperator).toBe(false)
    const unverified = await signIn({ email: 'root@example.com', email_verified: false, sub: 'root' })
    expect((await stateOf(unverified.browser)).isOperator).toBe(false)
  })
})

describe('an address that resembles that of an operator', () => {
  it.each(lookAlikesOf('kim.sato@example.com'))('[SESSION-13] with %s makes no operator: %j', async (_, email) => {
    const { browser } = await signIn({ email })
    expect((await stateOf(browser)).isOperator ?? false).toBe(false)
    expect((await browser.page('GET', '/admin/v1/users')).status).toBe(401)
  })

  it('[SESSION-13] in another case is that address', async () => {
    expect((await stateOf((await signIn({ email: 'KIM.Sato@Example.com' })).browser)).isOperator).toBe(true)
  })
})

describe('the sign-in is refused', () => {
  it.each([
    ['without a state', null],
    ['with a state of another sign-in', 'x'.repeat(43)],
  ])('[SESSION-25] %s', async (_, state) => {
    await expectFailed(async () => {
      const { browser, asked } = await led()
      return { browser, reply: await back(browser, { code: await giveCode(asked), state }) }
    }, 'expired')
    expect(provider.exchanges).toEqual([])
  })

  it("[SESSION-25] with the callback of an attacker, which belongs to the attacker's browser", async () => {
    const attacker = await led()
    const code = await giveCode(attacker.asked)
    for (const victim of [new Browser(), (await led()).browser]) {
      await expectFailed(
        async () => ({ browser: victim, reply: await back(victim, { code, state: attacker.asked.get('state') }) }),
        'expired',
      )
    }
    expect(provider.exchanges).toEqual([])
  })

  it('[SESSION-25] with a cookie that was tampered with, or after ten minutes', async () => {
    await expectFailed(async () => {
      const { browser, asked } = await led()
      browser.cookies.set('podplane-sign-in', `${browser.cookies.get('podplane-sign-in')?.slice(0, -8)}AAAAAAA=`)
      return { browser, reply: await back(browser, { code: await giveCode(asked), state: asked.get('state') }) }
    }, 'expired')
    await expectFailed(async () => {
      const { browser, asked } = await led()
      const code = await giveCode(asked)
      vi.useFakeTimers({ now: Date.now() + 600_001, toFake: ['Date'] })
      return { browser, reply: await back(browser, { code, state: asked.get('state') }) }
    }, 'expired')
  })

  it('[SESSION-25] with a parameter that is given twice, without a problem as JSON: the first one counts', async () => {
    await expectFailed(async () => {
      const browser = new Browser()
      return {
        browser,
        reply: await browser.ask('GET', '/console/callback?code=a&code=b&state=x', undefined, { 'Sec-Fetch-Site': 'cross-site' }),
      }
    }, 'expired')
    const begun = await new Browser().ask('GET', '/console/sign-in/start?return=/console/pods&return=/console/keys')
    expect(begun.status).toBe(302)
  })

  it('[SESSION-25] the second time with the same callback', async () => {
    const { browser, asked } = await led()
    const kept = browser.cookies.get('podplane-sign-in') ?? ''
    const code = await giveCode(asked)
    expect((await back(browser, { code, state: asked.get('state') })).headers.get('location')).toBe('/console')
    const again = new Browser()
    await expectFailed(async () => {
      again.cookies.set('podplane-sign-in', kept)
      return { browser: again, reply: await back(again, { code, state: asked.get('state') }) }
    }, 'provider')
  })

  it.each([
    [{ error: 'access_denied' }, 'denied'],
    [{ error: 'server_error' }, 'provider'],
    [{ iss: 'https://other.example.com', code: 'x' }, 'provider'],
    [{}, 'provider'],
    [{ code: 'nobody-gave-it' }, 'provider'],
  ])('[SESSION-25] when the provider replies %j: %s', async (query, reason) => {
    await expectFailed(async () => {
      const { browser, asked } = await led()
      return { browser, reply: await back(browser, { ...query, state: asked.get('state') }) }
    }, reason)
  })

  it('[SESSION-23] [SESSION-25] when a provider that names itself in its answers (RFC 9207) has not', async () => {
    provider.namesItself = true
    await expectFailed(() => signIn(), 'provider')
    expect(provider.exchanges).toEqual([])
  })

  it.each([
    [{ nonce: 'x'.repeat(43) }, 'provider'],
    [{ nonce: undefined }, 'provider'],
    [{ aud: 'podplane-console' }, 'provider'],
    [{ aud: [CLIENT, 'other'] }, 'provider'],
    [{ azp: 'other' }, 'provider'],
    [{ iss: 'https://other.example.com' }, 'provider'],
    [{ exp: 1 }, 'provider'],
    [{ email_verified: false }, 'email'],
    [{ email: undefined }, 'email'],
  ])('[SESSION-23] [SESSION-25] with an ID token with %j: %s', async (claims, reason) => expectFailed(() => signIn(claims), reason))

  it('[SESSION-25] with an ID token that another key has signed', async () => {
    const otherTenant = provider.key
    await provider.rotate()
    await expectFailed(async () => {
      const { browser, asked } = await led()
      const token = await provider.token({ aud: CLIENT, nonce: asked.get('nonce') }, {}, otherTenant)
      provider.codes.set('forged', { id_token: token })
      return { browser, reply: await back(browser, { code: 'forged', state: asked.get('state') }) }
    }, 'provider')
  })

  it('[SESSION-25] for a user who was deleted, suspended, or has another identity of the provider', async () => {
    const account = await createAccount()
    await signIn({ email: account.email, sub: account.userId })
    await expectFailed(() => signIn({ email: account.email, sub: 'another' }), 'account')
    await admin().post(`/admin/v1/users/${account.userId}/suspend`)
    await expectFailed(() => signIn({ email: account.email, sub: account.userId }), 'suspended')
  })

  it('[SESSION-25] while the provider is down', async () => {
    provider.isDown = true
    const reply = await new Browser().ask('GET', START)
    expect([reply.status, reply.headers.get('location')]).toEqual([302, '/console/sign-in?reason=provider'])
  })

  it('[SESSION-12] when codes are made up: the provider is called a limited number of times', async () => {
    // Failed look-ups are counted by window, and the stopped clock keeps all of these in one.
    vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
    const from = { 'X-Forwarded-For': '203.0.113.55' }
    const { browser, asked } = await led()
    const cookie = { Cookie: `podplane-sign-in=${browser.cookies.get('podplane-sign-in')}` }
    const call = () => new Browser().ask('GET', `/console/callback?code=x&state=${asked.get('state')}`, undefined, { ...from, ...cookie })
    for (const length of [MAX_MISSES, 20]) await Promise.all(Array.from({ length }, call))
    expect(provider.exchanges).toHaveLength(MAX_MISSES)
  })
})

describe('a client with a secret', () => {
  it.each([
    [undefined, true],
    [['client_secret_basic', 'client_secret_post'], true],
    [['client_secret_post'], false],
  ])('[SESSION-23] sends it as a provider that takes %j expects it', async (methods, isBasic) => {
    provider.methods = methods
    const own = { ...env, OIDC_CLIENT_SECRET: 's3cret:&' }
    const where = { env: own, nowMs: Date.now(), requestId: 'r' }
    const redirectUri = `${ORIGIN}/console/callback`
    const begun = await codeFlow.beginSignIn(where, { redirectUri, asked: null })
    if ('failure' in begun) throw new Error(begun.failure)
    const asked = new URL(begun.location).searchParams
    const query = new URLSearchParams({ code: await giveCode(asked), state: asked.get('state') ?? '' })
    const visit = { source: () => null, waitUntil: () => undefined }
    expect(await codeFlow.completeSignIn(where, { query, sealed: begun.sealed, redirectUri }, visit)).toHaveProperty('opened')
    const { form, authorization } = provider.exchanges[0] ?? {}
    expect([authorization, form?.get('client_secret') ?? null]).toEqual(
      isBasic ? [`Basic ${btoa('console:s3cret%3A%26')}`, null] : [null, 's3cret:&'],
    )
  })
})
