import { UnsecuredJWT } from 'jose'
import type { Problem } from '../../../../src/contract/problems.ts'
import { formatApiKey } from '../../../../src/domain/key-text.ts'
import { MAX_MISSES, MISS_WINDOW_MS } from '../../../../src/domain/misses.ts'
import { clientSource } from '../../../../src/http/callers/client-address.ts'
import { authenticate } from '../../../../src/services/authenticate.ts'
import type { Visit } from '../../../../src/services/credentials/authentication.ts'
import { DECISION_TTL_MS, dropCachedDecisions } from '../../../../src/services/credentials/cached-decisions.ts'
import { rememberedKeys } from '../../../../src/services/credentials/key-callers.ts'
import { renewHostToken } from '../../../../src/services/hosts/host-enrolment.ts'
import { api, beforeEach, createAccount, createEndpoint, describe, env, expect, it, send, vi } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'

/** Long enough for two windows. */
const WAIT_MS = 25_000
const TEST_MS = 30_000
const NOW = Date.UTC(2031, 0, 1)
const unknownKey = () => formatApiKey('0000000000', crypto.getRandomValues(new Uint8Array(32)))

function visitFrom(address: string | null): Visit & { ended(): Promise<unknown> } {
  const pending: Promise<unknown>[] = []
  return { source: () => address, waitUntil: (promise) => void pending.push(promise), ended: () => Promise.all(pending) }
}

/** Number of D1 queries during `run`. */
async function queriesOf(run: () => Promise<unknown>): Promise<number> {
  const prepare = vi.spyOn(env.DB, 'prepare')
  await run()
  const { length } = prepare.mock.calls
  prepare.mockRestore()
  return length
}

/** Repeats `run` from the start if the counting window ended meanwhile; a source that used up a window has a tenth of the next. */
const inOneWindow = (run: () => Promise<void>) =>
  vi.waitFor(
    () => {
      dropCachedDecisions()
      return run()
    },
    { timeout: WAIT_MS },
  )

describe('floods of keys', () => {
  beforeEach(dropCachedDecisions)

  it('[H6][KEY-10] a thousand spellings of a header are one key in memory, one read and one write', async () => {
    const { key } = await createAccount()
    const spellings = ['Bearer', 'bearer', 'BEARER', 'bEARER'].flatMap((scheme) =>
      Array.from({ length: 250 }, (_, spaces) => `${scheme}${' '.repeat(spaces + 1)}${key}`),
    )
    const visit = visitFrom('a')
    const before = rememberedKeys()
    const queries = await queriesOf(async () => {
      for (const spelling of spellings) expect((await authenticate(env, spelling, NOW, visit)).ok).toBe(true)
      await visit.ended()
    })
    // The key is cached as valid and as familiar.
    expect({ queries, remembered: rememberedKeys() - before }).toEqual({ queries: 2, remembered: 2 })
  })

  it('[H6][KEY-10] a header of 130 kB is no key, and nothing of it is cached', async () => {
    const { key } = await createAccount()
    const before = rememberedKeys()
    const header = `Bearer${' '.repeat(130_000)}${key}`
    expect(await authenticate(env, header, NOW)).toEqual({ ok: false, problem: 'missingToken' })
    expect(rememberedKeys()).toBe(before)
  })

  it('[H6][KEY-10] a key in use is noted in D1 at most once a minute, by whichever isolate', async () => {
    const { key, keyId } = await createAccount()
    const lastUse = () => env.DB.prepare('SELECT last_used_at AS at FROM api_keys WHERE id = ?').bind(keyId).first('at')
    for (const nowMs of [NOW, NOW + 59_999, NOW + 60_000]) {
      dropCachedDecisions()
      const visit = visitFrom('a')
      await authenticate(env, `Bearer ${key}`, nowMs, visit)
      await visit.ended()
      expect(await lastUse()).toBe(nowMs === NOW + 59_999 ? NOW : nowMs)
    }
  })

  it('[M3][KEY-10] a key that the plane never issued is looked up once in five seconds', async () => {
    const header = `Bearer ${unknownKey()}`
    const ask = (nowMs: number) => authenticate(env, header, nowMs, visitFrom('a'))
    const queries = await queriesOf(async () => {
      for (const nowMs of [NOW, NOW + 1, NOW + 4_999, NOW + 5_000]) expect(await ask(nowMs)).toEqual({ ok: false, problem: 'invalidToken' })
    })
    expect(queries).toBe(2)
  })

  it('[M3][KEY-10] an address with too many unknown keys causes no more D1 queries, and others are not affected', async () => {
    const honest = await createAccount()
    const header = `Bearer ${honest.key}`
    expect((await authenticate(env, header, NOW - DECISION_TTL_MS, visitFrom('a'))).ok).toBe(true)
    const flood = (length: number) =>
      Promise.all(Array.from({ length }, () => authenticate(env, `Bearer ${unknownKey()}`, NOW, visitFrom('a'))))
    const queries = await queriesOf(async () => {
      const isHeldUp = (answer: Awaited<ReturnType<typeof authenticate>>) => !answer.ok && answer.problem === 'rateLimited'
      expect((await flood(MAX_MISSES)).filter(isHeldUp)).toHaveLength(0)
      expect((await flood(200)).filter(isHeldUp)).toHaveLength(200)
    })
    expect(queries).toBe(MAX_MISSES)
    // A key that was valid before is looked up from the same address; others wait for the next window, but not from another address.
    expect((await authenticate(env, header, NOW, visitFrom('a'))).ok).toBe(true)
    const newcomer = `Bearer ${(await createAccount()).key}`
    expect(await authenticate(env, newcomer, NOW, visitFrom('a'))).toEqual({ ok: false, problem: 'rateLimited', waitSeconds: 10 })
    expect((await authenticate(env, newcomer, NOW, visitFrom('b'))).ok).toBe(true)
    expect((await authenticate(env, `Bearer ${(await createAccount()).key}`, NOW + MISS_WINDOW_MS, visitFrom('a'))).ok).toBe(true)
  })

  it('[S12][SESSION-12] an address with too many assertions of unknown hosts causes no more D1 queries, and a host elsewhere gets its token', async () => {
    const madeUp = () => new UnsecuredJWT({ iss: crypto.randomUUID() }).encode()
    const ask = (assertion: string, address: string | null) =>
      renewHostToken(env, assertion, address, NOW).then(
        () => 200,
        (error: Problem) => error.status,
      )
    const flood = (length: number) => Promise.all(Array.from({ length }, () => ask(madeUp(), 'a')))
    const queries = await queriesOf(async () => {
      expect(new Set(await flood(MAX_MISSES))).toEqual(new Set([401]))
      expect(new Set(await flood(200))).toEqual(new Set([429]))
    })
    expect(queries).toBe(MAX_MISSES)
    const host = await FakeHost.enrol()
    expect(await ask(await host.assertion(), 'a')).toBe(429)
    expect(await ask(await host.assertion(), 'b')).toBe(200)
    expect(await ask(await host.assertion(), null)).toBe(200)
  })

  it('[M3][KEY-10] senders with unknown addresses do not lock one another out', async () => {
    const ask = (key: string) => authenticate(env, `Bearer ${key}`, NOW, visitFrom(null))
    const { key } = await createAccount()
    const otherTenants = await Promise.all(Array.from({ length: 2 * MAX_MISSES }, () => ask(unknownKey())))
    expect(new Set(otherTenants.map((answer) => !answer.ok && answer.problem))).toEqual(new Set(['invalidToken']))
    expect((await ask(key)).ok).toBe(true)
  })

  it('[M3][KEY-10] the reply is 429 with the time to wait, on REST and the job API', { timeout: TEST_MS }, async () => {
    const from = { 'X-Forwarded-For': '203.0.113.7' }
    await inOneWindow(async () => {
      await Promise.all(Array.from({ length: MAX_MISSES }, () => api(unknownKey()).get('/v2/serverless', undefined, from)))
      const detail = expect.stringMatching(/^this address sent too many unknown keys; retry in \d+ seconds$/)
      for (const path of ['/v2/serverless', '/v2/someendpoint/health']) {
        const reply = await api(unknownKey()).get(path, undefined, from)
        expect(reply).toMatchObject({ status: 429, body: { title: 'Too Many Requests', status: 429, detail } })
        expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
      }
    })
    expect((await api(unknownKey()).get('/v2/serverless', undefined, { 'X-Forwarded-For': '203.0.113.8' })).status).toBe(401)
    expect((await send('/v2/serverless', { headers: from })).status).toBe(401)
  })
})

it('[M3][KEY-10] a key that names random endpoints is throttled, and reaches its own meanwhile', { timeout: TEST_MS }, async () => {
  dropCachedDecisions()
  const { key } = await createAccount()
  const id = await createEndpoint(key)
  const call = api(key)
  expect((await call.get(`/v2/${id}/health`)).status).toBe(200)
  await inOneWindow(async () => {
    const name = (length: number) => Promise.all(Array.from({ length }, () => call.get(`/v2/${crypto.randomUUID()}/health`)))
    expect(new Set((await name(MAX_MISSES)).map(({ status }) => status))).toEqual(new Set([404]))
    expect(new Set((await name(20)).map(({ status }) => status))).toEqual(new Set([429]))
    expect((await call.get(`/v2/${crypto.randomUUID()}/health`)).body.detail).toMatch(/^this key requested too many unknown endpoints/)
  })
  expect((await call.get(`/v2/${id}/health`)).status).toBe(200)
})

it('[KEY-10] many valid simultaneous calls are no flood, whatever the isolate has cached', { timeout: TEST_MS }, async () => {
  const { key } = await createAccount()
  const id = await createEndpoint(key)
  dropCachedDecisions()
  const replies = await Promise.all(Array.from({ length: 2 * MAX_MISSES }, () => api(key).get(`/v2/${id}/health`)))
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
})

describe('the source of a request', () => {
  const source = (headers: Record<string, string>) => clientSource(new Request('http://plane.test/', { headers }))

  it('[M3][KEY-10] is the address that the nearest proxy reports, and for IPv6 a network; without a proxy it is unknown', () => {
    expect(source({ 'X-Forwarded-For': '198.51.100.1, 203.0.113.7' })).toBe(source({ 'X-Forwarded-For': '203.0.113.7' }))
    expect(source({ 'X-Forwarded-For': '2001:db8:1:2::5' })).toBe(source({ 'X-Forwarded-For': '2001:db8:1:2:ffff::1' }))
    expect(source({ 'X-Forwarded-For': '2001:db8:1:3::5' })).not.toBe(source({ 'X-Forwarded-For': '2001:db8:1:2::5' }))
    expect(source({})).toBe(null)
    expect(source({ 'CF-Connecting-IP': '203.0.113.7' })).toBe(null)
    expect(source({ 'X-Forwarded-For': `${'x'.repeat(1000)}` })).toBe(null)
  })
})
