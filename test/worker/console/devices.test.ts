import { startDeviceLogin, waitForDeviceKey } from '../../../src/client/device.ts'
import { MAX_MISSES } from '../../../src/domain/misses.ts'
import { USER_CODE_LETTERS } from '../../../src/domain/session/device-login.ts'
import { dropCachedDecisions } from '../../../src/services/credentials/cached-decisions.ts'
import { timeOfUserCode } from '../../../src/services/sessions/device-codes.ts'
import { startDeviceLogin as startDevice } from '../../../src/services/sessions/device-logins.ts'
import { auditRows } from '../../support/access/audited.ts'
import { wholeState } from '../../support/access/whole-state.ts'
import { watchDatabase } from '../../support/cost/watch-database.ts'
import {
  type Account,
  admin,
  afterEach,
  api,
  createAccount,
  createKey,
  describe,
  env,
  expect,
  it,
  joinTeam,
  ORIGIN,
  type Reply,
  send,
  teamOf,
  vi,
} from '../../support/harness.ts'
import { Browser } from '../../support/http/browser.ts'

const START = '/console/device'
const missing = api(null)

interface Device {
  device_code: string
  user_code: string
  verification_uri_complete: string
}

afterEach(() => {
  vi.useRealTimers()
  dropCachedDecisions()
})

const start = async (name = 'ada-laptop'): Promise<Device> => {
  const { status, body } = await missing.post(START, { name })
  expect(status).toBe(200)
  return body
}
const poll = ({ device_code }: Device): Promise<Reply> => missing.post(`${START}/token`, { device_code })
const approve = (browser: Browser, { user_code: userCode }: Device, more: object = {}, headers: Record<string, string> = {}) =>
  browser.page('POST', `${START}/approve`, { userCode, ...more }, headers)
async function signedIn(account: Account): Promise<Browser> {
  const { link } = (await admin().post('/admin/v1/sign-in-links', { userId: account.userId })).body
  const browser = new Browser()
  expect((await browser.page('POST', '/console/session', { link })).status).toBe(201)
  return browser
}
const keysOf = async ({ userId }: Account) =>
  (
    await env.DB.prepare('SELECT id, team_id, name, permission, scopes FROM api_keys WHERE user_id = ? ORDER BY created_at')
      .bind(userId)
      .all()
  ).results
const stored = async () => JSON.stringify((await env.DB.prepare('SELECT * FROM device_logins').all()).results)
/** A code that the plane issues neither now nor in a minute: an issued code with another last letter. */
function madeUp(known = 'BCDFGHJKLMNP'): string {
  const codes = [...USER_CODE_LETTERS].map((letter) => known.slice(0, -1) + letter)
  const times = [Date.now(), Date.now() + 60_000]
  return codes.find((code) => times.every((nowMs) => timeOfUserCode(env, code, nowMs) === null)) ?? ''
}
/** Moves the clock past the polling interval of a device. */
const later = (ms = 6_000) => vi.useFakeTimers({ now: Date.now() + ms, toFake: ['Date'] })

describe('a device', () => {
  it('[S9] [SESSION-18] [DER-9] begins with two codes, which the plane does not store', async () => {
    const before = await stored()
    const { status, body, headers } = await missing.post(START, { name: 'ada-laptop' })
    expect([status, body]).toEqual([
      200,
      {
        device_code: expect.stringMatching(/^pps1\./),
        user_code: expect.stringMatching(/^[BCDFGHJ-NP-TV-XZ]{4}-[BCDFGHJ-NP-TV-XZ]{4}-[BCDFGHJ-NP-TV-XZ]{4}$/),
        verification_uri: `${ORIGIN}/console/device`,
        verification_uri_complete: expect.stringMatching(
          new RegExp(`^${ORIGIN}/console/device\\?code=${body.user_code}&name=ada-laptop&proof=[\\w-]{16}$`),
        ),
        expires_in: 900,
        interval: 5,
      },
    ])
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body.device_code).not.toContain('ada-laptop')
    expect(await stored()).toBe(before)
    for (const bad of [{}, { name: '' }, { name: 'x\u0007' }, { name: 'x'.repeat(1000) }]) {
      expect((await missing.post(START, bad)).status).toBe(422)
    }
  })

  it('[SESSION-19] [SESSION-20] [SESSION-21] that a user approves gets a key of that account, once', async () => {
    const account = await createAccount()
    const browser = await signedIn(account)
    const device = await start()
    expect(await poll(device)).toMatchObject({
      status: 400,
      body: {
        error: 'authorization_pending',
        error_description: 'no user has approved the device yet',
        code: 'authorization_pending',
        interval: 5,
      },
    })
    const typed = device.user_code.toLowerCase().replace('-', ' ')
    const shown = await browser.page('GET', `${START}/${encodeURIComponent(typed)}`)
    expect(shown.body).toEqual({
      userCode: device.user_code,
      name: null,
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
    })
    const before = await keysOf(account)
    expect(await approve(browser, device, { permission: 'RESTRICTED', scopes: ['pods:read'] })).toMatchObject({
      status: 200,
      body: shown.body,
    })
    // The key is created only when the device fetches it.
    expect(await keysOf(account)).toEqual(before)
    later()
    const given = await poll(device)
    const team = await teamOf(account)
    expect([given.status, given.body, given.headers.get('cache-control')]).toEqual([
      200,
      { access_token: expect.stringMatching(/^pp_/), token_type: 'Bearer', key_id: expect.any(String), account_id: team },
      'no-store',
    ])
    const key = given.body.access_token
    expect((await api(key).get('/v2/pods')).status).toBe(200)
    expect((await api(key).get('/v2/templates')).status).toBe(403)
    expect((await keysOf(account)).slice(before.length)).toEqual([
      { id: given.body.key_id, team_id: team, name: 'podplane on ada-laptop', permission: 'RESTRICTED', scopes: '["pods:read"]' },
    ])
    later(12_000)
    expect((await poll(device)).body.error).toBe('expired_token')
    expect((await keysOf(account)).length).toBe(before.length + 1)
    const actions = (await auditRows("user_id = ? AND action IN ('devices.approve', 'keys.create')", account.userId)).map(
      ({ action }) => action,
    )
    expect(actions).toEqual(['devices.approve', 'keys.create'])
  })

  it('[DER-11] is named by its own link alone, and by no link with another name', async () => {
    const browser = await signedIn(await createAccount())
    const [device, other] = [await start(), await start('the-intruder')]
    const { searchParams: said } = new URL(device.verification_uri_complete)
    const nameSeen = async (code: string, query: Record<string, string>) =>
      (await browser.page('GET', `${START}/${code}?${new URLSearchParams(query)}`)).body.name
    const proof = said.get('proof') ?? ''
    expect(await nameSeen(device.user_code, { name: 'ada-laptop', proof })).toBe('ada-laptop')
    expect(await nameSeen(device.user_code, { name: 'ada-laptop' })).toBeNull()
    expect(await nameSeen(device.user_code, { name: 'ada-desktop', proof })).toBeNull()
    expect(await nameSeen(other.user_code, { name: 'ada-laptop', proof })).toBeNull()
  })

  it('[S9] [DER-9] [DER-12] that waits costs no row, and one read each time it polls in time', async () => {
    const device = await start()
    const before = await wholeState(undefined)
    const calls = watchDatabase()
    expect((await poll(device)).body.error).toBe('authorization_pending')
    expect(calls).toEqual([[expect.stringMatching(/^select .* from "device_logins" where "device_logins"."id" = \?$/)]])
    expect((await poll(device)).body.error).toBe('slow_down')
    expect(calls).toHaveLength(1)
    vi.restoreAllMocks()
    expect(await wholeState(undefined)).toBe(before)
  })

  it('[S9] [DER-9] begins while 10,050 others wait, which have used up no room', async () => {
    const before = await wholeState(undefined)
    for (let n = 0; n < 10_050; n += 1) startDevice({ env, nowMs: Date.now(), requestId: 'r' }, `flood-${n}`)
    expect(await wholeState(undefined)).toBe(before)
    const account = await createAccount()
    const device = await start()
    expect((await approve(await signedIn(account), device)).status).toBe(200)
    expect((await poll(device)).status).toBe(200)
  })

  it('[S9] [DER-10] with a code that the plane never issued cannot be approved, and leaves no row', async () => {
    const browser = await signedIn(await createAccount())
    const before = await stored()
    const known = (await start()).user_code.replaceAll('-', '')
    for (const code of [madeUp(), madeUp(known)]) {
      expect((await browser.page('POST', `${START}/approve`, { userCode: code })).status).toBe(404)
    }
    expect(await stored()).toBe(before)
  })

  it('[SESSION-21] that polls many times at once gets one key', async () => {
    const account = await createAccount()
    const device = await start()
    await approve(await signedIn(account), device)
    const before = await keysOf(account)
    const statuses = (await Promise.all(Array.from({ length: 6 }, () => poll(device)))).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, 400, 400, 400, 400, 400])
    expect((await keysOf(account)).length).toBe(before.length + 1)
  })

  it('[SESSION-20] that polls too fast is slowed down, and is refused when it was denied or comes too late', async () => {
    const browser = await signedIn(await createAccount())
    const [eager, unwanted, late] = [await start(), await start(), await start()]
    expect((await poll(eager)).body.error).toBe('authorization_pending')
    expect((await poll(eager)).body).toMatchObject({ error: 'slow_down', interval: 10 })
    expect((await browser.page('POST', `${START}/deny`, { userCode: unwanted.user_code })).status).toBe(204)
    expect((await poll(unwanted)).body.error).toBe('access_denied')
    expect((await approve(browser, unwanted)).status).toBe(404)
    later(15 * 60_000)
    expect((await poll(late)).body.error).toBe('expired_token')
    expect((await approve(await signedIn(await createAccount()), late)).status).toBe(404)
    for (const code of ['x', 'x'.repeat(43)]) {
      expect((await missing.post(`${START}/token`, { device_code: code })).body.error).toBe('expired_token')
    }
  })

  it('[SESSION-19] acts for the team that its approver acts for, while they are a member', async () => {
    const [owner, member] = [await createAccount(), await createAccount()]
    const team = await teamOf(owner)
    await joinTeam(team, member, 'DEV')
    const browser = await signedIn(member)
    const [one, two] = [await start(), await start()]
    for (const device of [one, two]) expect((await approve(browser, device, {}, { 'X-Team-Id': team })).status).toBe(200)
    const { body } = await poll(one)
    expect(body.account_id).toBe(team)
    expect((await api(body.access_token).get('/v2/billing')).status).toBe(403)
    await env.DB.prepare('DELETE FROM memberships WHERE team_id = ? AND user_id = ?').bind(team, member.userId).run()
    const before = await keysOf(member)
    expect((await poll(two)).body.error).toBe('access_denied')
    expect(await keysOf(member)).toEqual(before)
  })

  it('[SESSION-19] cannot be approved by a user who could not make such a key', async () => {
    const account = await createAccount()
    const team = await teamOf(account)
    const device = await start()
    const member = await createAccount()
    await joinTeam(team, member, 'BASIC')
    const basic = await signedIn(member)
    const requested = { permission: 'RESTRICTED', scopes: ['pods:write'] }
    // TEAM-2: such a key grants nothing here, as with any other key of this member.
    expect((await approve(basic, device, { permission: 'RESTRICTED' }, { 'X-Team-Id': team })).status).toBe(400)
    const narrow = await createKey(account.userId, { permission: 'RESTRICTED', scopes: ['pods:read', 'account:read'] })
    expect((await approve(await Browser.signedIn(narrow.key), device, requested)).status).toBe(403)
    const wide = await createKey(account.userId, { permission: 'RESTRICTED', scopes: ['account:write'] })
    expect((await approve(await Browser.signedIn(wide.key), device, requested)).status).toBe(403)
    expect((await approve(await Browser.signedIn(env.OPERATOR_KEY), device)).status).toBe(401)
    expect((await api(account.key).post(`${START}/approve`, { userCode: device.user_code })).status).toBe(403)
    expect((await missing.post(`${START}/approve`, { userCode: device.user_code })).status).toBe(401)
    const browser = await signedIn(account)
    for (const path of ['approve', 'deny']) {
      expect((await browser.ask('POST', `${START}/${path}`, { userCode: device.user_code })).status).toBe(401)
    }
    expect((await poll(device)).body.error).toBe('authorization_pending')
  })

  it('[SESSION-18] can begin a limited number of times per address, and guessing codes ends', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.99', 'Content-Type': 'application/json' }
    const many = await Promise.all(
      Array.from({ length: 40 }, async () => (await send(START, { method: 'POST', headers, body: '{"name":"x"}' })).status),
    )
    expect([many.filter((status) => status === 200).length, many.filter((status) => status === 429).length]).toEqual([30, 10])
    const browser = await signedIn(await createAccount())
    // Failed look-ups are counted by window, and the stopped clock keeps all of these in one.
    later(0)
    const unknown = madeUp()
    const guess = async () => (await browser.page('GET', `${START}/${unknown}`)).status
    const guesses = (length: number) => Promise.all(Array.from({ length }, guess))
    expect(new Set(await guesses(MAX_MISSES))).toEqual(new Set([404]))
    expect(new Set(await guesses(20))).toEqual(new Set([429]))
  })
})

// The runtime of the tests does not support `redirect: 'error'`.
const fetch = (url: string | URL | Request, { redirect: _, ...init }: RequestInit = {}) => send(String(url), init)

describe('the client of a device', () => {
  it('[SESSION-20] polls at the interval that it receives, and gets the key', async () => {
    const account = await createAccount()
    const login = await startDeviceLogin(`${ORIGIN}/`, 'ada-laptop', { fetch })
    const browser = await signedIn(account)
    const waited: number[] = []
    const pause = async (ms: number) => {
      waited.push(ms)
      if (waited.length === 3) await approve(browser, login)
      if (waited.length > 2) later(30_000 * waited.length)
    }
    const key = await waitForDeviceKey(ORIGIN, login, { fetch, pause })
    expect(waited).toEqual([5_000, 5_000, 10_000])
    expect((await api(key.access_token).get('/v2/user')).body.id).toBe(account.userId)
  })

  it('[SESSION-20] reports that the device was not approved', async () => {
    const login = await startDeviceLogin(ORIGIN, 'x', { fetch })
    await (await signedIn(await createAccount())).page('POST', `${START}/deny`, { userCode: login.user_code })
    await expect(waitForDeviceKey(ORIGIN, login, { fetch, pause: async () => undefined })).rejects.toMatchObject({ code: 'access_denied' })
  })
})
