import { startDeviceLogin, waitForDeviceKey } from '../../../src/client/device.ts'
import { MAX_POLLS } from '../../../src/http/console/device-routes.ts'
import { afterEach, describe, expect, it, send, vi } from '../../support/harness.ts'

const ORIGIN = 'http://plane.test'
const PATH = '/console/device'
afterEach(() => void vi.useRealTimers())

function post(path: string, body: object, address: string) {
  const headers = { 'X-Forwarded-For': address, 'Content-Type': 'application/json' }
  return send(path, { method: 'POST', headers, body: JSON.stringify(body) })
}

describe('polls of device codes', () => {
  it('[DER-35] are limited to a number per minute and address, made-up codes too, and other addresses are not affected', async () => {
    vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
    const [busy, other] = ['203.0.113.50', '203.0.113.51']
    const { device_code } = (await (await post(PATH, { name: 'x' }, busy)).json()) as { device_code: string }
    const statuses: number[] = []
    for (let n = 0; n < MAX_POLLS + 5; n += 1) {
      statuses.push((await post(`${PATH}/token`, { device_code: n % 2 ? device_code : 'made-up' }, busy)).status)
    }
    expect([statuses.indexOf(429), statuses.filter((status) => status === 429).length]).toEqual([MAX_POLLS, 5])
    vi.setSystemTime(Date.now() + 20_000)
    const refused = await post(`${PATH}/token`, { device_code }, busy)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '40'])
    expect((await post(`${PATH}/token`, { device_code }, other)).status).toBe(400)
    vi.setSystemTime(Date.now() + 40_001)
    expect((await post(`${PATH}/token`, { device_code }, busy)).status).toBe(400)
  })

  it('[DER-35] permit fifty devices that poll every five seconds', () => {
    expect(MAX_POLLS).toBeGreaterThanOrEqual((50 * 60) / 5)
  })

  it('[DER-35] that are refused pause once, and continue as before', async () => {
    const fetch = (url: string | URL | Request, { redirect: _, ...init }: RequestInit = {}) => send(String(url), init)
    const login = await startDeviceLogin(ORIGIN, 'x', { fetch })
    const answers = [
      new Response('{"title":"Too Many Requests","status":429}', { status: 429, headers: { 'retry-after': '40' } }),
      Response.json({ error: 'authorization_pending', code: 'authorization_pending' }, { status: 400 }),
      Response.json({ access_token: 'key' }),
    ]
    const waited: number[] = []
    const pause = async (ms: number) => void waited.push(ms)
    const played = async () => answers.shift() ?? Response.error()
    expect((await waitForDeviceKey(ORIGIN, login, { fetch: played, pause })).access_token).toBe('key')
    expect(waited).toEqual([5_000, 40_000, 5_000])
  })
})
