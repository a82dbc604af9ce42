import { exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose'
import { type Reply, send, vi } from '../harness.ts'

/** The issuer in the settings of the tests' plane (vitest.config.ts). */
export const ISSUER = 'https://id.example.com'
export const AUDIENCE = 'podplane-console'
const JWKS_URL = `${ISSUER}/keys`
const HOUR_SECONDS = 3600

type PrivateKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey']
interface Key {
  kid: string
  alg: string
  privateKey: PrivateKey
}

/** An identity provider that the plane under test can reach, until it is set to be down. */
export class FakeProvider {
  /** The published keys. */
  jwks: { keys: object[] } = { keys: [] }
  isDown = false
  /** Requested paths. */
  readonly asked: string[] = []
  private current!: Key
  /** The answers of its token endpoint by code, each once; an unknown code is 400. */
  readonly codes = new Map<string, object>()
  /** The requests to the token endpoint. */
  readonly exchanges: { form: URLSearchParams; authorization: string | null }[] = []
  /** The user info beside the ID token; null: none. */
  userInfo: object | null = null
  /** The methods by which clients send their secret. */
  methods: string[] | undefined
  /** Whether it declares that it names itself when it sends a user back (RFC 9207). */
  namesItself = false

  /** Starts with one key; the plane's `fetch` is redirected here until the mocks of the test are restored. */
  static async start(): Promise<FakeProvider> {
    const provider = new FakeProvider()
    await provider.rotate()
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => provider.answer(String(input), init))
    return provider
  }

  get key(): Key {
    return this.current
  }

  /** Signs with another key from then on, and publishes it alone. */
  async rotate(alg = 'ES256'): Promise<Key> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
    const kid = crypto.randomUUID()
    this.jwks = { keys: [{ ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }] }
    this.current = { kid, alg, privateKey }
    return this.current
  }

  /** A token of a new subject with a verified address, unless claims override it; a claim that is undefined is left out. */
  async token(claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}, key: Key = this.current): Promise<string> {
    const now = Math.floor(Date.now() / 1000)
    const sub = crypto.randomUUID()
    const standard = {
      iss: ISSUER,
      aud: AUDIENCE,
      sub,
      iat: now,
      exp: now + HOUR_SECONDS,
      email: `${sub}@example.com`,
      email_verified: true,
    }
    const payload = Object.fromEntries(Object.entries({ ...standard, ...claims }).filter(([, value]) => value !== undefined))
    return new SignJWT(payload).setProtectedHeader({ alg: key.alg, kid: key.kid, ...header } as JWTHeaderParameters).sign(key.privateKey)
  }

  private answer(url: string, init: RequestInit = {}): Response {
    const path = url.slice(ISSUER.length)
    this.asked.push(path)
    if (this.isDown) throw new TypeError('the provider cannot be reached')
    if (path === '/.well-known/openid-configuration') return Response.json(this.document())
    if (path === '/token') return this.exchange(init)
    if (path === '/userinfo') return this.userInfo ? Response.json(this.userInfo) : new Response(null, { status: 401 })
    return url === JWKS_URL ? Response.json(this.jwks) : new Response(null, { status: 404 })
  }

  private document(): object {
    const endpoints = {
      authorization_endpoint: `${ISSUER}/authorize?tenant=1`,
      token_endpoint: `${ISSUER}/token`,
      userinfo_endpoint: `${ISSUER}/userinfo`,
    }
    return {
      issuer: ISSUER,
      jwks_uri: JWKS_URL,
      ...endpoints,
      token_endpoint_auth_methods_supported: this.methods,
      authorization_response_iss_parameter_supported: this.namesItself,
    }
  }

  private exchange({ body, headers }: RequestInit): Response {
    const form = new URLSearchParams(String(body))
    this.exchanges.push({ form, authorization: new Headers(headers).get('authorization') })
    const code = form.get('code') ?? ''
    const answer = this.codes.get(code)
    this.codes.delete(code)
    return answer ? Response.json(answer) : Response.json({ error: 'invalid_grant' }, { status: 400 })
  }
}

/** Calls with a token as a console does, for a team if one is named. */
export async function asSession(
  token: string,
  path: string,
  team?: string,
  init: RequestInit = {},
): Promise<Reply & { account: string | null }> {
  const headers = { Authorization: `Bearer ${token}`, ...(team === undefined ? {} : { 'X-Team-Id': team }) }
  const response = await send(path, { ...init, headers: { ...headers, ...init.headers } })
  const text = await response.text()
  const account = response.headers.get('x-account-id')
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text), account }
}
