import { SSH_OPEN_HEADER } from '../../../src/host-protocol/ssh-proxy.ts'
import { INGRESS_CHECKS } from '../../../src/http/ingress/ingress-checks.ts'
import { auditRows } from '../../support/access/audited.ts'
import { admin, afterEach, createAccount, createKeyIn, createOrganization, describe, env, expect, it, send } from '../../support/harness.ts'
import { FakeTunnel } from '../../support/hosts/fake-tunnel.ts'
import { ChannelSocket, PlayedCommand } from '../../support/http/channel-socket.ts'
import { PodScene, podScene } from '../../support/pods/pod-scene.ts'
import { until } from '../../support/time.ts'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHR3b3RoaXJ0eXR3b3RoaXJ0eXR3b3RoaXJ0eXR3'
const OTHER_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG90aGVyb3RoZXJvdGhlcm90aGVyb3RoZXJvdGhl'
const USUAL = { ...INGRESS_CHECKS }
const BEARER = { Authorization: `Bearer ${env.SSH_PROXY_KEY}` }
let scene: PodScene
afterEach(() => {
  Object.assign(INGRESS_CHECKS, USUAL)
  scene?.leave()
})

async function runPod(changes: Record<string, unknown> = { startSsh: true }) {
  scene = await podScene()
  expect((await scene.call.put('/v2/account/ssh-keys', { keys: [`${KEY} me@laptop`] })).status).toBe(200)
  const commands: PlayedCommand[] = []
  const tunnel = await FakeTunnel.open(scene.host, ({ stream }) => void commands.push(new PlayedCommand(stream)))
  const { id } = await scene.create(changes)
  await scene.run(id)
  const { ssh_suffix: suffix } = (await env.DB.prepare('SELECT ssh_suffix FROM pods WHERE id = ?').bind(id).first()) as {
    ssh_suffix: string
  }
  return { id, user: `${id}-${suffix}`, tunnel, commands }
}

const admit = (body: Record<string, unknown>, headers: Record<string, string> = BEARER) =>
  send('/ssh/v1/admit', { method: 'POST', headers, body: JSON.stringify({ key: KEY, connect: false, address: '192.0.2.7', ...body }) })
const open = (what: unknown, headers: Record<string, string> = BEARER) =>
  send('/ssh/v1/open', { headers: { Upgrade: 'websocket', [SSH_OPEN_HEADER]: btoa(JSON.stringify(what)), ...headers } })
const SHELL = { kind: 'exec', command: null, terminal: null }

describe('[NET-21] the SSH proxy asks whether a key opens a pod', () => {
  it('and a wrong pod, suffix or key, and a pod without startSsh, get the same refusal', async () => {
    const { id, user } = await runPod()
    expect((await admit({ user })).status).toBe(204)
    const { id: without } = await scene.create()
    const { ssh_suffix: suffix } = (await env.DB.prepare('SELECT ssh_suffix FROM pods WHERE id = ?').bind(without).first()) as {
      ssh_suffix: string
    }
    const refused = await Promise.all([
      admit({ user: `${id}-00000000` }),
      admit({ user, key: OTHER_KEY }),
      admit({ user, key: '' }),
      admit({ user: 'nosuchpod-00000000' }),
      admit({ user: 'root' }),
      admit({ user: `${without}-${suffix}` }),
    ])
    const bodies = await Promise.all(refused.map(async (reply) => ({ ...((await reply.json()) as object), status: reply.status })))
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
    expect(bodies[0]).toMatchObject({ status: 403, detail: 'no pod with SSH has this user name and accepts this key' })
  })

  it('[S10] [SHR-4] logins have windows of their own: one beyond the limit is 429 and leaves no row, and other requests of the user continue', async () => {
    const { id, user } = await runPod()
    const quota = { minute: 2, hour: 2, day: 2, exempt: false }
    expect((await admin().put(`/admin/v1/users/${scene.account.userId}/quotas`, quota)).status).toBe(200)
    const statuses: number[] = []
    for (let i = 0; i < 4; i += 1) statuses.push((await admit({ user, connect: true })).status)
    expect(statuses).toEqual([204, 204, 429, 429])
    expect(await auditRows("resource_id = ? AND action = 'pods.ssh'", id)).toHaveLength(2)
    expect((await scene.call.get('/v2/user')).status).toBe(200)
    // Only successful logins are counted.
    expect((await admit({ user })).status).toBe(204)
  })

  it('[S10] [SHR-45] logins into pods of organizations of one user are counted together; those of another user are not affected', async () => {
    const victim = await runPod()
    expect((await admit({ user: victim.user, connect: true })).status).toBe(204)
    const maker = await createAccount()
    const users: string[] = []
    for (let number = 0; number < 2; number += 1) {
      const { key } = await createKeyIn(await createOrganization(maker.key), maker)
      const own = new PodScene(scene.host, { ...maker, key })
      expect((await own.call.put('/v2/account/ssh-keys', { keys: [`${KEY} me@laptop`] })).status).toBe(200)
      const { id } = await own.createCpu({ startSsh: true })
      await own.run(id)
      const row = await env.DB.prepare('SELECT ssh_suffix FROM pods WHERE id = ?').bind(id).first<{ ssh_suffix: string }>()
      users.push(`${id}-${row?.ssh_suffix}`)
    }
    const quota = { minute: 2, hour: 2, day: 2, exempt: false }
    expect((await admin().put(`/admin/v1/users/${maker.userId}/quotas`, quota)).status).toBe(200)
    const statuses: number[] = []
    for (const user of [...users, ...users]) statuses.push((await admit({ user, connect: true })).status)
    expect(statuses).toEqual([204, 204, 429, 429])
    expect((await admit({ user: victim.user, connect: true })).status).toBe(204)
  })

  it('[NET-20] with its own key alone', async () => {
    const { user, tunnel } = await runPod()
    const keys = ['', 'Bearer ', 'Bearer wrong', `Bearer ${scene.account.key}`, `Bearer ${env.OPERATOR_KEY}`]
    const refused = await Promise.all(
      keys.flatMap((authorization) => {
        const headers = { Authorization: authorization }
        return [admit({ user }, headers), open({ user, key: KEY, target: SHELL }, headers)]
      }),
    )
    expect([refused.map(({ status }) => status), tunnel.served]).toEqual([Array(10).fill(401), []])
  })

  it('[AUD-21] and the audit log names the user and the address once the key is proven', async () => {
    const { id, user } = await runPod()
    await admit({ user })
    await admit({ user, connect: true })
    const { body } = await scene.call.get(`/v2/account/audit?resource=${id}&action=pods.ssh`)
    const fingerprint = expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}$/)
    expect(body.entries).toEqual([
      expect.objectContaining({
        actor: { kind: 'KEY', userId: null, credentialId: fingerprint },
        before: null,
        after: { fingerprint, address: '192.0.2.7' },
      }),
    ])
  })
})

describe('a connection of the SSH proxy', () => {
  it('[NET-22] is a command or a port of the pod, with credit both ways', async () => {
    const { id, user, tunnel } = await runPod()
    const socket = (await open({ user, key: KEY, target: { kind: 'tcp', port: 8_888 } })).webSocket
    socket?.accept()
    await until(() => tunnel.served.length === 1)
    expect(tunnel.served.map(({ opened }) => ({ ...opened, window: 0 }))).toEqual([
      { kind: 'tcp', workloadId: `${id}-1`, port: 8_888, flow: true, window: 0 },
    ])
    const refused = [
      await open({ user, key: OTHER_KEY, target: SHELL }),
      await open({ user, key: KEY, target: { kind: 'http', port: 1 } }),
      await send('/ssh/v1/open', { headers: BEARER }),
    ]
    expect([refused.map(({ status }) => status), tunnel.served.length]).toEqual([[403, 422, 400], 1])
    socket?.close()
  })

  it('[NET-9] ends when the account revokes the key, and when the pod stops', async () => {
    Object.assign(INGRESS_CHECKS, { everyMs: 20 })
    const { id, user, commands } = await runPod()
    await scene.call.put('/v2/account/ssh-keys', { keys: [KEY, OTHER_KEY] })
    const enter = async (key: string) => {
      const { webSocket } = await open({ user, key, target: SHELL })
      if (!webSocket) throw new Error('no socket')
      return new ChannelSocket(webSocket)
    }
    const [kept, taken] = [await enter(KEY), await enter(OTHER_KEY)]
    await scene.call.put('/v2/account/ssh-keys', { keys: [KEY] })
    await until(() => taken.closed !== null && commands[1]?.isOver === true)
    expect([kept.closed, commands[0]?.isOver]).toEqual([null, false])
    await scene.act(id, 'stop')
    await until(() => kept.closed !== null && commands[0]?.isOver === true)
    const late = await open({ user, key: KEY, target: SHELL })
    expect([late.status, ((await late.json()) as { detail: string }).detail]).toEqual([
      409,
      expect.stringContaining('it can be accessed only while it is RUNNING'),
    ])
  })
})
