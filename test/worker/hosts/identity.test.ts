import { FakeHost } from '../../support/fake-host.ts'
import { admin, afterEach, describe, env, expect, it, runInDurableObject, send, vi } from '../../support/harness.ts'
import { freezeHostClock, moveHostClock } from '../../support/hosts.ts'
import { SMALL_ORDER_KEYS } from '../../support/small-order-keys.ts'
import { hostStub } from '../../support/stubs.ts'

const MINUTE_MS = 60_000

/** Moves the clock of the Worker itself. */
function travel(ms: number): void {
  const now = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => now + ms)
}

/** Whether events, logs and link are open to this host's access token. */
async function doors(host: FakeHost): Promise<number[]> {
  const link = await host.openLink()
  link.webSocket?.accept()
  link.webSocket?.close()
  return [await host.callStatus('events'), await host.callStatus('logs'), link.status]
}

afterEach(() => void vi.restoreAllMocks())

describe('assertions', () => {
  it('[HOST-38] one buys one access token', async () => {
    const host = await FakeHost.enrol()
    const assertion = await host.assertion()
    expect(await host.renew(assertion)).toBe(200)
    expect(await host.renew(assertion)).toBe(401)
    expect(await host.renew(await host.assertion())).toBe(200)
    expect(await doors(host)).toEqual([200, 200, 101])
  })

  it('[HOST-38] of two that use it at once, one gets it', async () => {
    const host = await FakeHost.enrol()
    const assertion = await host.assertion()
    expect((await Promise.all([host.renew(assertion), host.renew(assertion)])).sort()).toEqual([200, 401])
  })

  it('[HOST-38] its id is remembered for 120 s, per host', async () => {
    const [host, other] = [await FakeHost.enrol(), await FakeHost.enrol()]
    await freezeHostClock(host.id)
    expect(await host.renew(await host.assertion({ jti: 'same' }))).toBe(200)
    expect(await other.renew(await other.assertion({ jti: 'same' }))).toBe(200)
    await moveHostClock(host.id, 119_999)
    expect(await host.renew(await host.assertion({ jti: 'same' }))).toBe(401)
    await moveHostClock(host.id, 1)
    expect(await host.renew(await host.assertion({ jti: 'same' }))).toBe(200)
  })

  it('[HOST-38] an id that is too long or empty is refused, and so is what comes after a hundred in two minutes', async () => {
    const host = await FakeHost.enrol()
    expect(await host.renew(await host.assertion({ jti: 'x'.repeat(129) }))).toBe(401)
    expect(await host.renew(await host.assertion({ jti: '' }))).toBe(401)
    await runInDurableObject(hostStub(env, host.id), async (object) => {
      for (let i = 0; i < 100; i++) expect(await object.spendAssertion(`jti-${i}`)).toBe('good')
    })
    expect(await host.renew(await host.assertion())).toBe(429)
  })

  it("[HOST-38] another host's key, another epoch and no key at all buy nothing", async () => {
    const [host, other] = [await FakeHost.enrol(), await FakeHost.enrol()]
    const forged = (await other.assertion()).split('.')
    const own = (await host.assertion()).split('.')
    expect(await host.renew([own[0], own[1], forged[2]].join('.'))).toBe(401)
    expect(await host.renew(await host.assertion({ epoch: 2 }))).toBe(401)
    expect(await host.renew('')).toBe(422)
    expect(await host.renew('nonsense')).toBe(401)
  })

  it('[HOST-43] of a clock that is five minutes off is refused, and taken once the clock is corrected', async () => {
    const host = await FakeHost.enrol()
    for (const skewMs of [-5 * MINUTE_MS, 5 * MINUTE_MS]) {
      expect(await host.renew(await host.assertion({ skewMs }))).toBe(401)
      expect(await host.renew(await host.assertion({ skewMs: skewMs / 10 }))).toBe(200)
    }
  })

  it('[HOST-43] reads the time of the plane in its answers, refusals before all', async () => {
    const replies = await Promise.all(['enrol', 'token', 'events'].map((path) => send(`/host/v1/${path}`, { method: 'POST', body: '{}' })))
    expect(replies.map(({ status }) => status)).toEqual([422, 422, 401])
    for (const { headers } of replies) expect(Math.abs(Date.parse(headers.get('date') ?? '') - Date.now())).toBeLessThan(MINUTE_MS)
  })
})

describe('the key of a host', () => {
  const toBase64Url = (hex: string) => btoa(String.fromCharCode(...(hex.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16))))

  it('[L2] [HOST-79] of small order enrols nobody, and the join token is not spent', async () => {
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

  it('[L2] [HOST-79] of small order, which a former release has let in, buys no access token', async () => {
    const host = await FakeHost.enrol()
    const identity = toBase64Url(SMALL_ORDER_KEYS[0] ?? '')
    await env.DB.prepare('UPDATE hosts SET public_key_x = ? WHERE id = ?').bind(identity, host.id).run()
    // R is the identity and s is 0, which holds for any text under this key.
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
    expect(await doors(host)).toEqual([200, 200, 101])
    await env.DB.prepare('UPDATE hosts SET epoch = 2 WHERE id = ?').bind(host.id).run()
    travel(5_000)
    expect(await doors(host)).toEqual([401, 401, 401])
    expect(await host.renew(await host.assertion({ epoch: 1 }))).toBe(401)
    expect(await host.renew(await host.assertion({ epoch: 2 }))).toBe(200)
    expect(await doors(host)).toEqual([200, 200, 101])
  })

  it('[HOST-38] one of a removed host is refused everywhere within 5 s, and buys no new one', async () => {
    const host = await FakeHost.enrol()
    expect(await doors(host)).toEqual([200, 200, 101])
    expect((await admin().delete(`/admin/v1/hosts/${host.id}`)).status).toBe(204)
    expect(await host.renew(await host.assertion())).toBe(401)
    travel(5_000)
    expect(await doors(host)).toEqual([401, 401, 401])
  })

  it('[HOST-38] a warm isolate asks the database once in 5 s', async () => {
    const host = await FakeHost.enrol()
    await host.callStatus('logs')
    const prepare = vi.spyOn(env.DB, 'prepare')
    for (let i = 0; i < 20; i++) expect(await host.callStatus('logs')).toBe(200)
    expect(prepare.mock.calls.length).toBe(0)
  })

  it('[HOST-1] an hour later it is over', async () => {
    const host = await FakeHost.enrol()
    expect(await host.callStatus('events')).toBe(200)
    vi.useFakeTimers({ now: Date.now() + 61 * MINUTE_MS, toFake: ['Date'] })
    expect(await host.callStatus('events')).toBe(401)
    vi.useRealTimers()
  })
})
