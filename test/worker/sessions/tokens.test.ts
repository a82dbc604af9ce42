import { exportJWK, exportSPKI, generateKeyPair, importJWK, SignJWT, UnsecuredJWT } from 'jose'
import { CLOCK_TOLERANCE_SECONDS } from '../../../src/domain/session/claims.ts'
import { authenticate } from '../../../src/services/authenticate.ts'
import { dropCachedDecisions } from '../../../src/services/credentials/cached-decisions.ts'
import { dropProviderKeys } from '../../../src/services/sessions/provider-keys.ts'
import { AUDIENCE, asSession, FakeProvider, ISSUER } from '../../support/access/provider.ts'
import { afterEach, beforeEach, describe, env, expect, it, vi } from '../../support/harness.ts'

const PATH = '/v2/serverless'
const users = async () => (await env.DB.prepare('SELECT COUNT(*) AS n FROM users').first<{ n: number }>())?.n
const nowSeconds = () => Math.floor(Date.now() / 1000)
const encode = (value: unknown) => btoa(JSON.stringify(value)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

let provider: FakeProvider
beforeEach(async () => {
  dropCachedDecisions()
  dropProviderKeys()
  provider = await FakeProvider.start()
})
afterEach(() => vi.restoreAllMocks())

/** Expects 401 and no new user. */
async function expectRefused(token: string, errors?: string[]): Promise<void> {
  const before = await users()
  const reply = await asSession(token, PATH)
  expect({ status: reply.status, body: reply.body, account: reply.account }).toEqual({
    status: 401,
    body: { title: 'Unauthorized', status: 401, detail: 'invalid bearer token', ...(errors && { errors }) },
    account: null,
  })
  expect(await users()).toBe(before)
}

describe('a token of the provider', () => {
  it.each(['RS256', 'ES256'])('[OIDC-2] signed with %s is a session', async (alg) => {
    await provider.rotate(alg)
    expect((await asSession(await provider.token(), PATH)).status).toBe(200)
  })

  it.each([undefined, 'JWT', 'at+jwt', 'application/at+jwt'])('[OIDC-2] of the type %j is a session', async (typ) => {
    expect((await asSession(await provider.token({}, typ === undefined ? {} : { typ }), PATH)).status).toBe(200)
  })

  it.each([{ aud: [AUDIENCE, 'other'] }, { nbf: nowSeconds() - 1 }])('[OIDC-2] with %j is a session', async (claims) => {
    expect((await asSession(await provider.token(claims), PATH)).status).toBe(200)
  })

  it('[OIDC-2] is valid until its expiry to the second, and a little before its start', async () => {
    const now = nowSeconds()
    const ends = `Bearer ${await provider.token({ exp: now + 60 })}`
    expect((await authenticate(env, ends, (now + 60) * 1000 - 1)).ok).toBe(true)
    expect(await authenticate(env, ends, (now + 60) * 1000)).toEqual({ ok: false, problem: 'invalidToken' })
    dropCachedDecisions()
    expect(await authenticate(env, ends, (now + 60) * 1000)).toMatchObject({ ok: false, problem: 'invalidToken' })
    const begins = `Bearer ${await provider.token({ nbf: now + CLOCK_TOLERANCE_SECONDS })}`
    expect((await authenticate(env, begins, (now - 1) * 1000)).ok).toBe(false)
    expect((await authenticate(env, begins, now * 1000)).ok).toBe(true)
  })
})

describe('an invalid token of the provider for this plane', () => {
  it.each([
    [{ iss: 'https://other.example.com' }, 'the issuer of the token (iss) is not OIDC_ISSUER of this plane'],
    [{ iss: `${ISSUER}/` }, 'the issuer of the token (iss) is not OIDC_ISSUER of this plane'],
    [{ iss: undefined }, 'the issuer of the token (iss) is not OIDC_ISSUER of this plane'],
    [{ aud: 'other' }, 'the audience of the token (aud) is not OIDC_AUDIENCE of this plane'],
    [{ aud: undefined }, 'the audience of the token (aud) is not OIDC_AUDIENCE of this plane'],
    [{ exp: nowSeconds() - 1 }, 'the session has expired: sign in again'],
    [{ exp: undefined }, 'the token has no expiry (exp)'],
    [{ nbf: nowSeconds() + 600 }, 'the token is not valid yet (nbf)'],
    [{ sub: undefined }, 'the token has no subject (sub)'],
    [{ sub: '' }, 'sub has to be a text of 1 to 255 characters'],
    [{ sub: 'x'.repeat(256) }, 'sub has to be a text of 1 to 255 characters'],
    [{ cnf: { jkt: 'x' } }, 'the token is bound to a key of its owner (cnf), so it is not a bearer token'],
  ])('[OIDC-2][OIDC-13] claims %j: 401 with the reason', async (claims, error) => {
    await expectRefused(await provider.token(claims), [error])
  })

  it.each(['logout+jwt', 'dpop+jwt', 'secevent+jwt'])('[OIDC-2] type %s: 401', async (typ) => {
    await expectRefused(await provider.token({}, { typ }), ['the type of the token (typ) is for other uses'])
  })

  it('[OIDC-2] alg none: 401', async () => {
    const claims = { email: 'none@example.com', email_verified: true }
    const unsigned = new UnsecuredJWT(claims).setIssuer(ISSUER).setAudience(AUDIENCE).setSubject('none').setExpirationTime('1h').encode()
    await expectRefused(unsigned)
    const [, payload, signature] = (await provider.token()).split('.')
    for (const alg of ['none', 'None', 'NONE', '']) await expectRefused(`${encode({ alg, kid: provider.key.kid })}.${payload}.${signature}`)
  })

  it('[OIDC-2] HS256 over the public key: 401, as text, as JWK and as key', async () => {
    await provider.rotate('RS256')
    const [published] = provider.jwks.keys
    const spki = await exportSPKI((await importJWK(published as Parameters<typeof importJWK>[0], 'RS256')) as CryptoKey)
    const [, payload] = (await provider.token()).split('.')
    const claims = JSON.parse(atob((payload ?? '').replaceAll('-', '+').replaceAll('_', '/')))
    for (const secret of [spki, spki.trim(), JSON.stringify(published)]) {
      const header = { alg: 'HS256', kid: provider.key.kid }
      await expectRefused(await new SignJWT(claims).setProtectedHeader(header).sign(new TextEncoder().encode(secret)))
    }
    // Also where the key set contains a shared secret.
    const k = new TextEncoder().encode('a-shared-secret-of-a-good-length')
    provider.jwks.keys.push({ ...(await exportJWK(k)), kid: 'shared', alg: 'HS256' })
    dropProviderKeys()
    await expectRefused(await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'shared' }).sign(k))
  })

  it('[OIDC-2] an algorithm that is not configured: 401', async () => {
    await provider.rotate('RS512')
    await expectRefused(await provider.token())
  })

  it('[OIDC-2] a key that the header contains or points to: 401, and nothing is fetched from there', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    const jwk = await exportJWK(publicKey)
    const mine = { kid: provider.key.kid, alg: 'ES256', privateKey }
    const jku = 'https://evil.example.com/keys'
    for (const header of [{ jwk }, { jku }, { x5u: jku }, { x5c: ['MIIB'] }]) {
      for (const kid of [provider.key.kid, 'unknown', undefined]) await expectRefused(await provider.token({}, { ...header, kid }, mine))
    }
    expect(new Set(provider.asked)).toEqual(new Set(['/.well-known/openid-configuration', '/keys']))
  })

  it('[OIDC-2] a header with critical parts that are unknown: 401', async () => {
    const token = await provider.token()
    const [, payload, signature] = token.split('.')
    await expectRefused(`${encode({ alg: 'ES256', kid: provider.key.kid, crit: ['exp2'], exp2: 1 })}.${payload}.${signature}`)
  })

  it('[OIDC-2] a changed payload, a changed or missing signature: 401', async () => {
    const [header, payload, signature = ''] = (await provider.token()).split('.')
    const other = (await provider.token()).split('.')[1]
    for (const forged of [`${header}.${other}.${signature}`, `${header}.${payload}.`, `${header}.${payload}.${signature.slice(4)}AAAA`]) {
      await expectRefused(forged)
    }
  })

  it.each([
    '..',
    'a.b.c',
    'eyJ.eyJ.x',
    `${encode({ alg: 'ES256' })}.e30.`,
    `${encode([])}.${encode([])}.x`,
    `${encode(null)}.${encode(1)}.x`,
  ])('[OIDC-2] %s: 401', async (token) => expectRefused(token))

  it('[OIDC-2] a very long one: 401, unread', async () => {
    const huge = await provider.token({ groups: 'x'.repeat(8000) })
    await expectRefused(huge, ['the token is too long: configure the identity provider to put fewer claims into it'])
    expect(provider.asked).toEqual([])
    const nearly = await provider.token({ groups: 'x'.repeat(5000) })
    expect(nearly.length).toBeGreaterThan(6000)
    expect((await asSession(nearly, PATH)).status).toBe(200)
  })
})

describe('a plane', () => {
  it('[OIDC-1] without a provider takes no token: 401 as for any unknown key', async () => {
    const token = await provider.token()
    expect(await authenticate({ ...env, OIDC_ISSUER: '' }, `Bearer ${token}`, Date.now())).toEqual({ ok: false, problem: 'invalidToken' })
    expect(provider.asked).toEqual([])
  })

  it('[OIDC-1] with an invalid setting of the provider names the variable', async () => {
    const wrong = { ...env, OIDC_ALGORITHMS: 'RS256, HS256' }
    expect(await authenticate(wrong, `Bearer ${await provider.token()}`, Date.now())).toMatchObject({
      ok: false,
      problem: 'unavailable',
      detail: expect.stringMatching(/^sessions are not set up: OIDC_ALGORITHMS names HS256: /),
    })
  })

  it('[OIDC-1] may have the place of the keys as a setting, and calls no other', async () => {
    const token = await provider.token()
    expect((await authenticate({ ...env, OIDC_JWKS_URL: `${ISSUER}/keys` }, `Bearer ${token}`, Date.now())).ok).toBe(true)
    expect(provider.asked).toEqual(['/keys'])
  })
})
