import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, test } from 'vitest'
import {
  IDP_AUDIENCE,
  IDP_CLIENT,
  IDP_REDIRECT,
  IDP_RESOURCE,
  type IdentityProvider,
  startIdentityProvider,
} from '../../../scripts/identity-provider.ts'
import { startPlane, type TestPlane } from '../support/plane/plane.ts'

/** Far more redirects than a sign-in has. */
const MAX_STEPS = 20

/** A browser, as far as a sign-in needs one: it stores cookies and follows redirects, until one targets the client. */
class Browser {
  readonly cookies = new Map<string, string>()

  async follow(url: string, form?: Record<string, string>): Promise<URL> {
    let next = new URL(url)
    let body = form && new URLSearchParams(form)
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const init = body ? { method: 'POST', body } : {}
      const response = await fetch(next, { ...init, redirect: 'manual', headers: { cookie } })
      await response.arrayBuffer()
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        this.cookies.set(name, value)
      }
      const location = response.headers.get('location')
      if (location === null) return next
      next = new URL(location, next)
      body = undefined
      if (next.href.startsWith(IDP_REDIRECT)) return next
    }
    throw new Error(`the sign-in does not end: ${next}`)
  }
}

/** Authorization code with PKCE (RFC 7636), by plain HTTP. */
async function signIn(issuer: string, email: string): Promise<{ access_token: string; id_token: string }> {
  const discovered = await fetch(`${issuer}/.well-known/openid-configuration`)
  const { authorization_endpoint, token_endpoint } = (await discovered.json()) as Record<string, string>
  const verifier = randomBytes(32).toString('base64url')
  const client = { client_id: IDP_CLIENT, redirect_uri: IDP_REDIRECT, resource: IDP_RESOURCE }
  const query = new URLSearchParams({
    ...client,
    response_type: 'code',
    scope: 'openid email',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const browser = new Browser()
  const login = await browser.follow(`${authorization_endpoint}?${query}`)
  const consent = await browser.follow(login.href, { prompt: 'login', login: email, password: 'any' })
  const back = await browser.follow(consent.href, { prompt: 'consent' })
  const code = back.searchParams.get('code')
  if (code === null) throw new Error(`no code: ${back}`)
  const body = new URLSearchParams({ ...client, grant_type: 'authorization_code', code, code_verifier: verifier })
  const reply = await fetch(token_endpoint ?? '', { method: 'POST', body })
  if (!reply.ok) throw new Error(await reply.text())
  return (await reply.json()) as { access_token: string; id_token: string }
}

describe('[DEV-15] a user who signs in at a real provider', () => {
  let provider: IdentityProvider
  let plane: TestPlane
  beforeAll(async () => {
    provider = await startIdentityProvider(0)
    const env = { OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: IDP_AUDIENCE, OIDC_CLIENT_ID: IDP_CLIENT, OIDC_OPERATORS: 'eve@example.com' }
    plane = await startPlane({ args: ['--no-agent'], env })
  })
  afterAll(async () => {
    await plane?.stop()
    await provider?.stop()
  })

  const call = async (token: string, path: string, init: RequestInit = {}) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const response = await fetch(plane.url + path, { ...init, headers })
    const body = (await response.json()) as Record<string, unknown>
    return { status: response.status, account: response.headers.get('x-account-id'), body }
  }

  /** Signs in through the pages of the provider, as the console redirects there. */
  async function signInAtConsole(browser: Browser, email: string, returnTo: string): Promise<URL> {
    const login = await browser.follow(`${plane.url}/console/sign-in/start?return=${encodeURIComponent(returnTo)}`)
    const consent = await browser.follow(login.href, { prompt: 'login', login: email, password: 'any' })
    return browser.follow(consent.href, { prompt: 'consent' })
  }

  test('[SESSION-22] [SESSION-23] [SESSION-13] signs in at the console, as a listed operator', async ({ expect }) => {
    const [eve, mallory] = [new Browser(), new Browser()]
    expect((await signInAtConsole(eve, 'eve@example.com', '/console/pods?status=RUNNING')).href).toBe(
      `${plane.url}/console/pods?status=RUNNING`,
    )
    expect((await signInAtConsole(mallory, 'mallory@example.com', 'https://evil.test/')).href).toBe(`${plane.url}/console`)
    const asBrowser = (browser: Browser, path: string, headers: Record<string, string> = {}) =>
      fetch(plane.url + path, { headers: { cookie: `podplane-session=${browser.cookies.get('podplane-session')}`, ...headers } })
    const states = await Promise.all([eve, mallory].map(async (browser) => (await asBrowser(browser, '/console/session')).json()))
    expect(states).toMatchObject([
      { signedIn: true, user: { email: 'eve@example.com' }, isOperator: true, signedInBy: 'OIDC', ways: { oidc: true, key: true } },
      { signedIn: true, user: { email: 'mallory@example.com' }, isOperator: false },
    ])
    const [hosts, refused, own] = [
      await asBrowser(eve, '/admin/v1/hosts'),
      await asBrowser(mallory, '/admin/v1/hosts'),
      await asBrowser(mallory, '/v2/serverless'),
    ]
    expect([hosts.status, refused.status, own.status]).toEqual([200, 401, 200])
    // The same account as with a token.
    const { access_token: token } = await signIn(provider.issuer, 'mallory@example.com')
    expect((await call(token, '/v2/serverless')).account).toBe(own.headers.get('x-account-id'))
  })

  test('uses the plane with the access token, in an account of their own', async ({ expect }) => {
    const { access_token: token, id_token: idToken } = await signIn(provider.issuer, 'ada@example.com')
    expect(await call(token, '/v2/user')).toEqual({
      status: 200,
      account: expect.any(String),
      body: { id: expect.any(String), email: 'ada@example.com' },
    })
    const made = await call(token, '/v2/account/keys', { method: 'POST', body: JSON.stringify({ name: 'mine' }) })
    expect(made.status).toBe(201)
    const again = await signIn(provider.issuer, 'ada@example.com')
    const other = await signIn(provider.issuer, 'bob@example.com')
    const [same, foreign] = [await call(again.access_token, '/v2/serverless'), await call(other.access_token, '/v2/serverless')]
    expect([same.account, same.status, foreign.status]).toEqual([made.account, 200, 200])
    expect(foreign.account).not.toBe(made.account)
    // The ID token is for the client, not for the plane.
    expect(await call(idToken, '/v2/serverless')).toMatchObject({
      status: 401,
      body: { errors: ['the audience of the token (aud) is not OIDC_AUDIENCE of this plane'] },
    })
    expect((await call(`${token.slice(0, -8)}AAAAAAAA`, '/v2/serverless')).status).toBe(401)
  })
})
