import { decodeJwt, exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose'
import { SMALL_ORDER_KEYS } from '../../support/access/small-order-keys.ts'
import { admin, afterEach, describe, env, expect, it, runInDurableObject, send, vi } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { freezeHostClock, moveHostClock } from '../../support/hosts/hosts.ts'
import { hostStub } from '../../support/runner/stubs.ts'

const MINUTE_MS = 60_000

/** Moves the clock of the Worker. */
function travel(ms: number): void {
  const now = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => now + ms)
}

/** Status codes of the events, logs and link endpoints for this host's access token. */
async function ingress(host: FakeHost): Promise<number[]> {
  const link = await host.openLink()
  link.webSocket?.accept()
  link.webSocket?.close()
  return [await host.callStatus('events'), await host.callStatus('logs'), link.status]
}

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const base64Url = (text: string) => btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

/** The claims of a valid assertion, signed in another way. */
async function signed(host: FakeHost, header: JWTHeaderParameters, key: Parameters<SignJWT['sign']>[0]): Promise<string> {
  return new SignJWT(decodeJwt(await host.assertion())).setProtectedHeader(header).sign(key)
}

async function publicKeyOf(host: FakeHost): Promise<string> {
  const row = await env.DB.prepare('SELECT public_key_x AS x FROM hosts WHERE id = ?').bind(host.id).first<{ x: string }>()
  return row?.x ?? ''
}

const FAR = 10 * 365 * 24 * 3_600
const nowSeconds = () => Math.floor(Date.now() / 1000)
/** False claims of an assertion; `other` is another host of the plane. */
const FALSE_CLAIMS: Readonly<Record<string, (other: FakeHost) => Record<string, unknown>>> = {
  'the audience of access tokens': () => ({ aud: 'podplane-host-api' }),
  'another audience': () => ({ aud: ['podplane', 'podplane-host2'] }),
  'no audience': () => ({ aud: undefined }),
  'another host as its subject': (other) => ({ sub: other.id }),
  'an unknown subject': () => ({ sub: 'nothing' }),
  'no subject': () => ({ sub: undefined }),
  'another host as its issuer': (other) => ({ iss: other.id }),
  'another host as issuer and subject': (other) => ({ iss: other.id, sub: other.id }),
  'an unknown issuer': () => ({ iss: 'nothing' }),
  'an issuer that is no text': () => ({ iss: 7 }),
  'an issuer that is a list': () => ({ iss: ['a'] }),
  'an issuer that is an object': () => ({ iss: {} }),
  'no issuer': () => ({ iss: undefined }),
  'another epoch': () => ({ epoch: 2 }),
  'an epoch that is a text': () => ({ epoch: '1' }),
  'no epoch': () => ({ epoch: undefined }),
  'an expiry in the past': () => ({ exp: nowSeconds() - 61 }),
  'an expiry long past': () => ({ exp: 1 }),
  'an expiry that is a text': () => ({ exp: '9999999999' }),
  'no expiry': () => ({ exp: undefined }),
  'an old issue that never expires': () => ({ iat: nowSeconds() - 122, exp: nowSeconds() + FAR }),
  'an issue to come that never expires': () => ({ iat: nowSeconds() + 62, exp: nowSeconds() + FAR }),
  'an issue in years': () => ({ iat: nowSeconds() + FAR, exp: nowSeconds() + FAR }),
  'an issue that is a text': () => ({ iat: String(nowSeconds()) }),
  'no issue': () => ({ iat: undefined }),
  'that it is not good yet': () => ({ nbf: nowSeconds() + 62 }),
  'no id': () => ({ jti: undefined }),
  'an id that is null': () => ({ jti: null }),
  'an id that is a number': () => ({ jti: 7 }),
  'an id that is a list': () => ({ jti: ['a'] }),
  'an id that is an object': () => ({ jti: { length: 1 } }),
}

/** Ways to sign the claims of a valid assertion without the key of its host. */
const FALSE_SIGNATURES: Readonly<Record<string, (host: FakeHost) => Promise<string>>> = {
  'no algorithm': async (host) => `${base64Url('{"alg":"none"}')}.${(await host.assertion()).split('.')[1]}.`,
  'no algorithm, and the signature left': async (host) => {
    const [, claims, signature] = (await host.assertion()).split('.')
    return [base64Url('{"alg":"none"}'), claims, signature].join('.')
  },
  'no signature': async (host) => `${(await host.assertion()).split('.').slice(0, 2).join('.')}.`,
  'HS256 by the public key as it is written': async (host) =>
    signed(host, { alg: 'HS256' }, new TextEncoder().encode(await publicKeyOf(host))),
  'HS256 by the bytes of the public key': async (host) => {
    const text = (await publicKeyOf(host)).replaceAll('-', '+').replaceAll('_', '/')
    return signed(
      host,
      { alg: 'HS256' },
      Uint8Array.from(atob(text), (one) => one.charCodeAt(0)),
    )
  },
  'HS256 by the public key as a JWK': async (host) =>
    signed(host, { alg: 'HS256' }, new TextEncoder().encode(JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x: await publicKeyOf(host) }))),
  'HS256 by nothing much': (host) => signed(host, { alg: 'HS256' }, new Uint8Array(32)),
  'a key of another curve': async (host) => signed(host, { alg: 'ES256' }, (await generateKeyPair('ES256')).privateKey),
  'another key': async (host) => signed(host, { alg: 'EdDSA' }, (await generateKeyPair('EdDSA')).privateKey),
  'another key that the header brings along': async (host) => {
    const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true })
    return signed(host, { alg: 'EdDSA', jwk: await exportJWK(publicKey) }, privateKey)
  },
  'another key that the header has an address of': async (host) =>
    signed(host, { alg: 'EdDSA', jku: 'https://keys.example.com/', kid: host.id }, (await generateKeyPair('EdDSA')).privateKey),
  'the text of another assertion': async (host) => {
    const [one, two] = [(await host.assertion()).split('.'), (await host.assertion()).split('.')]
    return [one[0], two[1], one[2]].join('.')
  },
}

describe('assertions', () => {
  it('[HOST-38] one assertion buys one access token', async () => {
    const host = await FakeHost.enrol()
    const assertion = await host.assertion()
    expect(await host.renew(assertion)).toBe(200)
    expect(await host.renew(assertion)).toBe(401)
    expect(await host.renew(await host.assertion())).toBe(200)
    expect(await ingress(host)).toEqual([200, 200, 101])
  })

  it('[HOST-38] of two simultaneous uses one gets a token', async () => {
    const host = await FakeHost.enrol()
    const assertion = await host.assertion()
    expect((await Promise.all([host.renew(assertion), host.renew(assertion)])).sort()).toEqual([200, 401])
  })

  it('[HOST-38] its id is remembered for 200 s, per host', async () => {
    const [host, other] = [await FakeHost.enrol(), await FakeHost.enrol()]
    await freezeHostClock(host.id)
    expect(await host.renew(await host.assertion({ jti: 'same' }))).toBe(200)
    expect(await other.renew(await other.assertion({ jti: 'same' }))).toBe(200)
    await moveHostClock(host.id, 199_999)
    expect(await host.renew(await host.assertion({ jti: 'same' }))).toBe(401)
    await moveHostClock(host.id, 1)
    expect(await host.renew(await host.assertion({ jti: 'same' }))).toBe(200)
  })

  it('[HOST-38] an id that is too long or empty is refused, and so is an assertion after a hundred in three minutes', async () => {
    const host = await FakeHost.enrol()
    expect(await host.renew(await host.assertion({ jti: 'x'.repeat(129) }))).toBe(401)
    expect(await host.renew(await host.assertion({ jti: '' }))).toBe(401)
    await runInDurableObject(hostStub(env, host.id), async (object) => {
      for (let i = 0; i < 100; i++) expect(await object.spendAssertion(`jti-${i}`)).toBe('good')
    })
    expect(await host.renew(await host.assertion())).toBe(429)
  })

  it("[HOST-38] another host's key, another epoch and a missing key buy nothing", async () => {
    const [host, other] = [await FakeHost.enrol(), await FakeHost.enrol()]
    const forged = (await other.assertion()).split('.')
    const own = (await host.assertion()).split('.')
    expect(await host.renew([own[0], own[1], forged[2]].join('.'))).toBe(401)
    expect(await host.renew(await host.assertion({ epoch: 2 }))).toBe(401)
    expect(await host.renew('')).toBe(422)
    expect(await host.renew('nonsense')).toBe(401)
  })

  it(`[HOST-38] ${Object.keys(FALSE_CLAIMS).length} false claims under the key of the host buy nothing`, async () => {
    const [host, other] = [await FakeHost.enrol(), await FakeHost.enrol()]
    const statuses: Record<string, number> = {}
    for (const [name, claims] of Object.entries(FALSE_CLAIMS)) statuses[name] = await host.renew(await host.assertion(claims(other)))
    expect(statuses).toEqual(Object.fromEntries(Object.keys(FALSE_CLAIMS).map((name) => [name, 401])))
    expect(await host.renew(await host.assertion())).toBe(200)
  })

  it(`[HOST-38] ${Object.keys(FALSE_SIGNATURES).length} signatures without the key of the host buy nothing`, async () => {
    const host = await FakeHost.enrol()
    const statuses: Record<string, number> = {}
    for (const [name, sign] of Object.entries(FALSE_SIGNATURES)) statuses[name] = await host.renew(await sign(host))
    expect(statuses).toEqual(Object.fromEntries(Object.keys(FALSE_SIGNATURES).map((name) => [name, 401])))
    expect(await host.renew(await host.assertion())).toBe(200)
  })

  it('[HOST-38] one with an expiry of years is valid for two minutes after its issue', async () => {
    const host = await FakeHost.enrol()
    const issuedAt = nowSeconds()
    const forYears = () => host.assertion({ iat: issuedAt, exp: issuedAt + FAR })
    expect(await host.renew(await forYears())).toBe(200)
    const kept = await forYears()
    vi.useFakeTimers({ now: (issuedAt + 122) * 1000, toFake: ['Date'] })
    expect(await host.renew(kept)).toBe(401)
  })

  it('[HOST-38] of a clock that is a minute ahead, one buys one access token for as long as it is valid', async () => {
    const host = await FakeHost.enrol()
    await freezeHostClock(host.id)
    const now = Date.now()
    const [assertion, another] = [await host.assertion({ skewMs: 55_000 }), await host.assertion({ skewMs: 55_000 })]
    expect(await host.renew(assertion)).toBe(200)
    vi.useFakeTimers({ now: now + 170_000, toFake: ['Date'] })
    await moveHostClock(host.id, 170_000)
    expect([await host.renew(another), await host.renew(assertion)]).toEqual([200, 401])
  })

  it('[HOST-43] of a clock that is five minutes off are refused, and accepted once the clock is corrected', async () => {
    const host = await FakeHost.enrol()
    for (const skewMs of [-5 * MINUTE_MS, 5 * MINUTE_MS]) {
      expect(await host.renew(await host.assertion({ skewMs }))).toBe(401)
      expect(await host.renew(await host.assertion({ skewMs: skewMs / 10 }))).toBe(200)
    }
  })

  it('[HOST-43] get the time of the plane in the replies, above all in refusals', async () => {
    const replies = await Promise.all(['enrol', 'token', 'events'].map((path) => send(`/host/v1/${path}`, { method: 'POST', body: '{}' })))
    expect(replies.map(({ status }) => status)).toEqual([422, 422, 401])
    for (const { headers } of replies) expect(Math.abs(Date.parse(headers.get('date') ?? '') - Date.now())).toBeLessThan(MINUTE_MS)
  })
})

describe('the key of a host', () => {
  const toBase64Url = (hex: string) => btoa(String.fromCharCode(...(hex.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16))))

  it('[L2] [HOST-79] of small order enrols no host, and the join token is not used up', async () => {
    const { id, token } = (await admin().post('/admin/v1/join-tokens', {})).body
    for (const key of SMALL_ORDER_KEYS) {
      const reply = await FakeHost.askToEnrol(token, { x: toBase64Url(key) })
      expect([key, reply.status, await reply.json()]).toEqual([
        key,
        422,
        expect.objectContaining({ errors: [expect.stringMatching(/^publicKey\.x is .*; make a new Ed25519 key pair$/)] }),
      ])
    }
    const { joinTokens } = (await admin().get('/admin/v1/join-tokens')).body
    expect(joinTokens).toContainEqual(expect.objectContaining({ id, usedAt: null, usedByHostId: null }))
    expect((await FakeHost.askToEnrol(token)).status).toBe(200)
  })

  it('[L2] [HOST-79] of small order, which a previous release has accepted, buys no access token', async () => {
    const host = await FakeHost.enrol()
    const identity = toBase64Url(SMALL_ORDER_KEYS[0] ?? '')
    await env.DB.prepare('UPDATE hosts SET public_key_x = ? WHERE id = ?').bind(identity, host.id).run()
    // R is the identity and s is 0; such a signature verifies for any message under this key.
    const [head, claims] = (await host.assertion()).split('.')
    const anybodys = toBase64Url(`01${'00'.repeat(63)}`)
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replaceAll('=', '')
    expect(await host.renew([head, claims, anybodys].join('.'))).toBe(401)
  })
})

describe('access tokens', () => {
  it('[HOST-38] one of an older epoch is refused everywhere within 5 s', async () => {
    const host = await FakeHost.enrol()
    expect(await ingress(host)).toEqual([200, 200, 101])
    await env.DB.prepare('UPDATE hosts SET epoch = 2 WHERE id = ?').bind(host.id).run()
    travel(5_000)
    expect(await ingress(host)).toEqual([401, 401, 401])
    expect(await host.renew(await host.assertion({ epoch: 1 }))).toBe(401)
    expect(await host.renew(await host.assertion({ epoch: 2 }))).toBe(200)
    expect(await ingress(host)).toEqual([200, 200, 101])
  })

  it('[HOST-38] one of a removed host is refused everywhere within 5 s, and buys no new one', async () => {
    const host = await FakeHost.enrol()
    expect(await ingress(host)).toEqual([200, 200, 101])
    expect((await admin().delete(`/admin/v1/hosts/${host.id}`)).status).toBe(204)
    expect(await host.renew(await host.assertion())).toBe(401)
    travel(5_000)
    expect(await ingress(host)).toEqual([401, 401, 401])
  })

  it('[HOST-38] a warm isolate queries the database once in 5 s', async () => {
    const host = await FakeHost.enrol()
    await host.callStatus('logs')
    const prepare = vi.spyOn(env.DB, 'prepare')
    for (let i = 0; i < 20; i++) expect(await host.callStatus('logs')).toBe(200)
    expect(prepare.mock.calls.length).toBe(0)
  })

  it('[HOST-1] expire after an hour', async () => {
    const host = await FakeHost.enrol()
    expect(await host.callStatus('events')).toBe(200)
    vi.useFakeTimers({ now: Date.now() + 61 * MINUTE_MS, toFake: ['Date'] })
    expect(await host.callStatus('events')).toBe(401)
  })
})
