import { INGRESS_CHECKS } from '../../../src/http/ingress/ingress-checks.ts'
import { type Account, admin, afterEach, api, createAccount, describe, env, expect, it, ORIGIN, send } from '../../support/harness.ts'
import { FakeTunnel, reply, type Serve } from '../../support/hosts/fake-tunnel.ts'
import { Browser, PAGE } from '../../support/http/browser.ts'
import { ChannelSocket, PlayedCommand } from '../../support/http/channel-socket.ts'
import { type PodScene, podScene } from '../../support/pods/pod-scene.ts'
import { until } from '../../support/time.ts'

const STATE = '/console/session'
const DEVICE = '/console/device'
const USUAL = { ...INGRESS_CHECKS }
let scene: PodScene | undefined
afterEach(() => {
  Object.assign(INGRESS_CHECKS, USUAL)
  scene?.leave()
  scene = undefined
})

/** Headers that browsers send with requests that do not come from a page of the plane. */
const OTHER_TENANTS: Record<string, Record<string, string>> = {
  'a form of another site': { Origin: 'https://evil.test', 'Sec-Fetch-Site': 'cross-site' },
  'a page of a neighbour below the same domain': {
    Origin: 'http://other.test',
    'Sec-Fetch-Site': 'same-site',
    'X-Requested-With': 'podplane',
  },
  'a script with the mark and another origin': { Origin: 'https://evil.test', 'X-Requested-With': 'podplane' },
  'a page of a pod below /proxy/, which is in a sandbox': {
    Origin: 'null',
    'Sec-Fetch-Site': 'cross-site',
    'X-Requested-With': 'podplane',
  },
  'an old browser without the mark': {},
  'a page of a host whose name begins like the plane’s': { Origin: `${ORIGIN}.evil.test`, 'X-Requested-With': 'podplane' },
  'a page of a host whose name ends like the plane’s': { Origin: ORIGIN.replace('//', '//evil'), 'X-Requested-With': 'podplane' },
  'a page that names the plane as its user': { Origin: `${ORIGIN}@evil.test`, 'X-Requested-With': 'podplane' },
  'a page of another port of the same host': { Origin: `${ORIGIN}:8081`, 'X-Requested-With': 'podplane' },
  'a page of another port, in a browser that says so': { 'Sec-Fetch-Site': 'same-site', 'X-Requested-With': 'podplane' },
  'a form of text of another site': { Origin: 'https://evil.test', 'Sec-Fetch-Site': 'cross-site', 'Content-Type': 'text/plain' },
  'a form of text in an old browser': { 'Content-Type': 'text/plain' },
}

async function signedInByLink({ userId }: Account, isOperator = false): Promise<Browser> {
  const browser = new Browser()
  const { link } = (await admin().post('/admin/v1/sign-in-links', { userId, isOperator })).body
  expect((await browser.page('POST', STATE, { link })).status).toBe(201)
  return browser
}

const countOf = async (table: string) => (await env.DB.prepare(`SELECT COUNT(*) AS n FROM ${table}`).first<{ n: number }>())?.n

describe('a cookie that', () => {
  it.each(Object.entries(OTHER_TENANTS))('[SESSION-4] [SESSION-6] %s sends changes nothing', async (_, headers) => {
    const account = await createAccount()
    const browser = await Browser.signedIn(account.key)
    const name = crypto.randomUUID()
    const reply = await browser.ask('POST', '/v2/templates', { name, image: 'acme/idle:1' }, headers)
    expect([reply.status, reply.body.errors.length]).toEqual([401, 1])
    const { n } = (await env.DB.prepare('SELECT COUNT(*) AS n FROM templates WHERE name = ?').bind(name).first<{ n: number }>()) ?? {}
    expect(n).toBe(0)
  })

  it.each(Object.entries(OTHER_TENANTS))('[SESSION-5] %s sends neither signs in nor out', async (_, headers) => {
    const [account, attacker] = [await createAccount(), await createAccount()]
    const browser = await Browser.signedIn(account.key)
    const stays = browser.secret
    expect((await browser.ask('POST', STATE, { key: attacker.key }, headers)).status).toBe(403)
    expect((await browser.ask('DELETE', STATE, undefined, headers)).status).toBe(403)
    expect(browser.secret).toBe(stays)
    expect((await browser.page('GET', '/v2/user')).body.id).toBe(account.userId)
  })

  it.each(Object.entries(OTHER_TENANTS))('[SESSION-4] [SESSION-20] %s sends neither approves nor denies a device', async (_, headers) => {
    const browser = await signedInByLink(await createAccount())
    const device = (await api(null).post(DEVICE, { name: 'ada-laptop' })).body
    const before = await countOf('api_keys')
    for (const verb of ['approve', 'deny']) {
      const { status } = await browser.ask('POST', `${DEVICE}/${verb}`, { userCode: device.user_code }, headers)
      expect([verb, status]).toEqual([verb, 401])
    }
    const received = await api(null).post(`${DEVICE}/token`, { device_code: device.device_code })
    expect([received.body.error, await countOf('api_keys')]).toEqual(['authorization_pending', before])
    expect((await browser.page('POST', `${DEVICE}/approve`, { userCode: device.user_code })).status, 'a page of the plane may').toBe(200)
  })

  it.each(Object.entries(OTHER_TENANTS))(
    '[SESSION-4] [SESSION-5] %s sends neither makes, reads nor opens a sign-in link',
    async (_, headers) => {
      const [owner, attacker] = [await createAccount(), await createAccount()]
      const [operator, victim] = [await signedInByLink(owner, true), await signedInByLink(owner)]
      const { link } = (await admin().post('/admin/v1/sign-in-links', { userId: attacker.userId })).body
      const before = await countOf('sign_in_links')
      const made = await operator.ask('POST', '/admin/v1/sign-in-links', { userId: attacker.userId }, headers)
      const read = await victim.ask('POST', `${STATE}/link`, { link }, headers)
      const opened = await victim.ask('POST', STATE, { link }, headers)
      expect([made.status, read.status, opened.status, await countOf('sign_in_links')]).toEqual([401, 403, 403, before])
      expect((await victim.page('GET', '/v2/user')).body.id).toBe(owner.userId)
      expect((await victim.page('POST', STATE, { link })).status, 'a page of the plane may').toBe(201)
    },
  )

  it("[SESSION-5] no site can send: an attacker's page signs no user in as the attacker", async () => {
    const attacker = await createAccount()
    const body = JSON.stringify({ key: attacker.key })
    const reply = await send(STATE, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
    expect([reply.status, reply.headers.getSetCookie()]).toEqual([403, []])
  })

  it('[SESSION-6] another site sends reads no data', async () => {
    const browser = await Browser.signedIn((await createAccount()).key)
    expect((await browser.ask('GET', '/v2/user')).status).toBe(200)
    expect((await browser.ask('GET', '/v2/user', undefined, { 'Sec-Fetch-Site': 'none' })).status).toBe(200)
    expect((await browser.ask('GET', '/v2/user', undefined, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(401)
    expect((await browser.ask('GET', '/v2/user', undefined, { Origin: 'null' })).status).toBe(401)
    // The response is not readable from other origins: no CORS header permits one.
    const reply = await browser.ask('GET', '/v2/user', undefined, { Origin: ORIGIN })
    expect([...reply.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})

const page: Serve = async ({ stream }) => {
  stream.accept()
  await reply(stream, 200, '<script>fetch("/v2/user")</script>', [
    ['content-type', 'text/html'],
    ['set-cookie', 'podplane-session=planted; Path=/'],
    ['set-cookie', '__Host-podplane-session=planted; Path=/; Secure'],
  ])
}

describe('a pod', () => {
  it('[SESSION-8] neither receives the cookies of its visitor nor sets one of the plane, and its page has an opaque origin', async () => {
    scene = await podScene()
    const tunnel = await FakeTunnel.open(scene.host, page)
    const { id } = await scene.create({ ports: ['8888/http'] })
    await scene.run(id)
    const browser = await Browser.signedIn(scene.account.key)
    const mine = browser.secret
    const answer = await browser.ask('GET', `/proxy/${id}/8888/`)
    expect([answer.status, answer.headers.getSetCookie(), browser.secret]).toEqual([200, [], mine])
    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^sandbox /)
    expect(policy).not.toContain('allow-same-origin')
    expect(tunnel.served.length).toBe(1)
    expect(JSON.stringify(tunnel.served)).not.toContain(mine)
  })

  it('[SESSION-2] [SESSION-6] is opened by cookie only from a page of the plane; the terminal ends with the session', async () => {
    Object.assign(INGRESS_CHECKS, { everyMs: 20, maxAgeMs: 0 })
    scene = await podScene()
    const commands: PlayedCommand[] = []
    await FakeTunnel.open(scene.host, ({ stream }) => void commands.push(new PlayedCommand(stream)))
    const { id } = await scene.create()
    await scene.run(id)
    const browser = await Browser.signedIn(scene.account.key)
    const enter = (headers: Record<string, string>) =>
      send(`/v2/pods/${id}/exec?command=sh`, {
        headers: { Upgrade: 'websocket', Cookie: `podplane-session=${browser.secret}`, ...headers },
      })
    for (const headers of [{}, { Origin: 'https://evil.test' }, { Origin: 'null' }, { Origin: ORIGIN, 'Sec-Fetch-Site': 'same-site' }]) {
      expect((await enter(headers as Record<string, string>)).status, JSON.stringify(headers)).toBe(401)
    }
    expect(commands).toEqual([])
    const { webSocket } = await enter({ Origin: ORIGIN })
    if (!webSocket) throw new Error('no WebSocket')
    const socket = new ChannelSocket(webSocket)
    await until(() => commands.length === 1)
    await admin().delete(`/admin/v1/users/${scene.account.userId}/sessions`)
    await until(() => socket.closed !== null)
    expect(socket.closed?.code).toBe(1008)
  })
})

describe('a visitor without a session', () => {
  it('[SESSION-7] reads how to sign in', async () => {
    const { status, body } = await new Browser().ask('GET', STATE, undefined, PAGE)
    expect([status, body]).toEqual([200, { signedIn: false, ways: { oidc: true, key: true } }])
  })
})
