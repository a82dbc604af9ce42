import { KEYS_COOLDOWN_MS, KEYS_FRESH_MS, KEYS_STALE_MS } from '../../../src/domain/session/key-set.ts'
import { authenticate } from '../../../src/services/authenticate.ts'
import type { Visit } from '../../../src/services/credentials/authentication.ts'
import { dropCachedDecisions } from '../../../src/services/credentials/cached-decisions.ts'
import { dropProviderKeys } from '../../../src/services/sessions/provider-keys.ts'
import { asSession, FakeProvider } from '../../support/access/provider.ts'
import { afterEach, beforeEach, describe, env, expect, it, vi } from '../../support/harness.ts'

const DAY_SECONDS = 86_400
const DISCOVERY = '/.well-known/openid-configuration'
const UNAVAILABLE = {
  ok: false,
  problem: 'unavailable',
  detail: 'the identity provider cannot be reached, so sessions cannot be verified; API keys still work',
  waitSeconds: 30,
}

let provider: FakeProvider
/** An expiry beyond every clock of these tests. */
let claims: { sub: string; exp: number; email: string }
let startMs: number

beforeEach(async () => {
  dropCachedDecisions()
  dropProviderKeys()
  provider = await FakeProvider.start()
  startMs = Date.now()
  const sub = crypto.randomUUID()
  claims = { sub, exp: Math.floor(startMs / 1000) + DAY_SECONDS, email: `${sub}@example.com` }
})
afterEach(() => vi.restoreAllMocks())

/** Authenticates as an isolate that has cached keys but no decision, and waits for the work that continues after the reply. */
async function ask(token: string, nowMs: number) {
  dropCachedDecisions()
  const later: Promise<unknown>[] = []
  const visit: Visit = { source: () => 'a', waitUntil: (promise) => later.push(promise) }
  const answer = await authenticate(env, `Bearer ${token}`, nowMs, visit)
  await Promise.all(later)
  return answer
}

describe("the provider's keys", () => {
  it('[OIDC-4] are fetched once, and again after a reply when they have grown old', async () => {
    const token = await provider.token(claims)
    for (const afterMs of [0, 1, KEYS_FRESH_MS - 1]) expect((await ask(token, startMs + afterMs)).ok).toBe(true)
    expect(provider.asked).toEqual([DISCOVERY, '/keys'])
    expect((await ask(token, startMs + KEYS_FRESH_MS)).ok).toBe(true)
    expect((await ask(token, startMs + KEYS_FRESH_MS + 1)).ok).toBe(true)
    expect(provider.asked).toEqual([DISCOVERY, '/keys', '/keys'])
  })

  it('[OIDC-4] that are withdrawn are invalid once the set has been fetched again', async () => {
    const token = await provider.token(claims)
    expect((await ask(token, startMs)).ok).toBe(true)
    await provider.rotate()
    expect((await ask(token, startMs + KEYS_FRESH_MS)).ok).toBe(true)
    expect(await ask(token, startMs + KEYS_FRESH_MS + 1)).toEqual({ ok: false, problem: 'invalidToken' })
  })

  it('[OIDC-3] are fetched at once for a new one: a rotation costs no user a session', async () => {
    expect((await ask(await provider.token(claims), startMs)).ok).toBe(true)
    await provider.rotate()
    expect((await ask(await provider.token(claims), startMs + KEYS_COOLDOWN_MS)).ok).toBe(true)
    expect(provider.asked).toEqual([DISCOVERY, '/keys', '/keys'])
  })

  it('[OIDC-3] are fetched once in a cooldown, however many unknown ones are named', async () => {
    expect((await ask(await provider.token(claims), startMs)).ok).toBe(true)
    const unknown = await Promise.all(Array.from({ length: 50 }, () => provider.token({}, { kid: crypto.randomUUID() })))
    for (const token of unknown) expect(await ask(token, startMs + KEYS_COOLDOWN_MS - 1)).toEqual({ ok: false, problem: 'invalidToken' })
    expect(provider.asked).toEqual([DISCOVERY, '/keys'])
    for (const token of unknown) expect(await ask(token, startMs + KEYS_COOLDOWN_MS)).toEqual({ ok: false, problem: 'invalidToken' })
    expect(provider.asked).toEqual([DISCOVERY, '/keys', '/keys'])
  })

  it('[OIDC-4] are fetched once for many simultaneous requests', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => provider.token()))
    const answers = await Promise.all(tokens.map((token) => authenticate(env, `Bearer ${token}`, startMs)))
    expect(answers.map(({ ok }) => ok)).toEqual(tokens.map(() => true))
    expect(provider.asked).toEqual([DISCOVERY, '/keys'])
  })
})

describe('while the provider is down', () => {
  it('[OIDC-4] known keys are valid for an hour, then it is 503 until it is back', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const token = await provider.token(claims)
    expect((await ask(token, startMs)).ok).toBe(true)
    provider.isDown = true
    for (const afterMs of [KEYS_FRESH_MS, KEYS_STALE_MS - 1]) expect((await ask(token, startMs + afterMs)).ok).toBe(true)
    expect(await ask(token, startMs + KEYS_STALE_MS + KEYS_COOLDOWN_MS)).toEqual(UNAVAILABLE)
    provider.isDown = false
    expect(await ask(token, startMs + KEYS_STALE_MS + KEYS_COOLDOWN_MS + 1)).toEqual(UNAVAILABLE)
    expect((await ask(token, startMs + KEYS_STALE_MS + 2 * KEYS_COOLDOWN_MS)).ok).toBe(true)
  })

  it('[OIDC-4] a caller gets the reason with the time to wait, and the operator reads it once a cooldown', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    provider.isDown = true
    for (let i = 0; i < 3; i += 1) {
      const reply = await asSession(await provider.token(), '/v2/serverless')
      expect([reply.status, reply.body.detail, reply.headers.get('retry-after')]).toEqual([503, UNAVAILABLE.detail, '30'])
    }
    const lines = log.mock.calls.map(([line]) => String(line)).filter((line) => line.includes('keys of the identity provider'))
    expect(lines.length).toBe(1)
  })

  it('[OIDC-4] a key that may be new is not a wrong one', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    expect((await ask(await provider.token(claims), startMs)).ok).toBe(true)
    await provider.rotate()
    provider.isDown = true
    expect(await ask(await provider.token(claims), startMs + KEYS_COOLDOWN_MS)).toEqual(UNAVAILABLE)
  })

  it.each([
    ['no keys', { keys: [] }],
    ['no set', {}],
    ['a text', 'keys'],
  ])('[OIDC-4] or it replies with %s, the previous keys stay valid', async (_name, document) => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const token = await provider.token(claims)
    expect((await ask(token, startMs)).ok).toBe(true)
    provider.jwks = document as typeof provider.jwks
    for (const afterMs of [KEYS_FRESH_MS, KEYS_FRESH_MS + 1]) expect((await ask(token, startMs + afterMs)).ok).toBe(true)
  })
})
