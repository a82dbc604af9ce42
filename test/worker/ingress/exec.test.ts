import { exited } from '../../../src/host-protocol/tunnel/channels.ts'
import { INGRESS_CHECKS } from '../../../src/http/ingress/ingress-checks.ts'
import { FakeProvider } from '../../support/access/provider.ts'
import { afterEach, api, createAccount, createKey, describe, env, expect, it, joinTeam, send, teamOf } from '../../support/harness.ts'
import { FakeTunnel } from '../../support/hosts/fake-tunnel.ts'
import { ChannelSocket, PlayedCommand } from '../../support/http/channel-socket.ts'
import { type PodScene, podScene } from '../../support/pods/pod-scene.ts'
import { until } from '../../support/time.ts'

const USUAL = { ...INGRESS_CHECKS }
let scene: PodScene
afterEach(() => {
  Object.assign(INGRESS_CHECKS, USUAL)
  scene.leave()
})

interface Running {
  id: string
  tunnel: FakeTunnel
  commands: PlayedCommand[]
}

async function runPod(serves?: readonly string[]): Promise<Running> {
  scene = await podScene()
  const commands: PlayedCommand[] = []
  const tunnel = await FakeTunnel.open(scene.host, ({ stream }) => void commands.push(new PlayedCommand(stream)), serves)
  const { id } = await scene.create()
  await scene.run(id)
  return { id, tunnel, commands }
}

const ask = (id: string, query: string, headers: Record<string, string> = { Authorization: `Bearer ${scene.account.key}` }) =>
  send(`/v2/pods/${id}/exec${query}`, { headers: { Upgrade: 'websocket', ...headers } })

async function enter(id: string, query = '', headers?: Record<string, string>): Promise<ChannelSocket> {
  const reply = await ask(id, query, headers)
  if (!reply.webSocket) throw new Error(`${reply.status} ${await reply.text()}`)
  return new ChannelSocket(reply.webSocket)
}

const auditOf = async (id: string) => {
  const { body } = await scene.call.get(`/v2/account/audit?resource=${id}&action=pods.exec`)
  return body
}

describe('a command in a pod', () => {
  it('[NET-6, NET-7] gets its input, and its outputs and exit code come back separately', async () => {
    const { id, tunnel, commands } = await runPod()
    const socket = await enter(id, '?command=sh&command=-c&command=secret%20word&tty=true&rows=30&cols=100&term=vt100&flow=1')
    await until(() => commands.length === 1)
    expect(tunnel.served.map(({ opened }) => ({ ...opened, window: 0 }))).toEqual([
      {
        kind: 'exec',
        workloadId: `${id}-1`,
        command: ['sh', '-c', 'secret word'],
        terminal: { name: 'vt100', rows: 30, cols: 100 },
        flow: true,
        window: 0,
      },
    ])
    const [command] = commands
    socket.type('hello')
    socket.say({ channel: 'resize', rows: 31, cols: 101 })
    socket.say({ channel: 'close' })
    await until(() => command?.heard.length === 3)
    expect(command?.heard.map(({ channel }) => channel)).toEqual(['stdin', 'resize', 'close'])
    await command?.print('out')
    await command?.say({ channel: 'stderr', bytes: new TextEncoder().encode('err') })
    await command?.exit(exited(3))
    expect(await socket.status()).toEqual(exited(3))
    await until(() => socket.closed !== null)
    expect([socket.text('stdout'), socket.text('stderr'), socket.closed]).toEqual(['out', 'err', { code: 1000, reason: '' }])
    expect(JSON.stringify(await auditOf(id))).not.toContain('secret')
  })

  it('[NET-6, AUD-20] is a shell when none is named; the audit log states which, and not the content', async () => {
    const { id, tunnel } = await runPod()
    await enter(id)
    await enter(id, '?command=env&tty=1')
    await until(() => tunnel.served.length === 2)
    expect(tunnel.served.map(({ opened }) => 'command' in opened && opened.command)).toEqual([null, ['env']])
    const { entries } = await auditOf(id)
    const shown = entries.map(({ action, actor, resource, after }: Record<string, unknown>) => ({ action, actor, resource, after }))
    expect(shown).toEqual([
      expect.objectContaining({ action: 'pods.exec', after: { kind: 'command', tty: true } }),
      expect.objectContaining({ action: 'pods.exec', after: { kind: 'shell', tty: false } }),
    ])
  })

  it('[NET-8] is refused for a pod that does not run or does not exist, and without a WebSocket; its host is not contacted', async () => {
    const { id, tunnel } = await runPod()
    const otherTenant = await createAccount()
    const reader = await createKey(scene.account.userId, { permission: 'RESTRICTED', scopes: ['pods:read'] })
    const { id: waiting } = await scene.create()
    const asked = await Promise.all([
      ask(id, '', { Authorization: `Bearer ${otherTenant.key}` }),
      ask(id, '', {}),
      ask(id, '', { Authorization: `Bearer ${reader.key}` }),
      ask('nosuchpod', ''),
      ask(waiting, ''),
      ask(id, '?rows=0'),
      send(`/v2/pods/${id}/exec`, { headers: { Authorization: `Bearer ${scene.account.key}` } }),
    ])
    expect(asked.map(({ status }) => status)).toEqual([404, 401, 403, 404, 409, 422, 400])
    expect(await asked[4]?.json()).toMatchObject({ detail: 'the pod is PROVISIONING: it can be accessed only while it is RUNNING' })
    expect(tunnel.served).toEqual([])
  })

  it('[NET-8, HOST-139] is refused for an agent that is too old, and leaves its tunnel open', async () => {
    const { id, tunnel } = await runPod(['pods'])
    const reply = await ask(id, '')
    expect([reply.status, ((await reply.json()) as { detail: string }).detail]).toEqual([
      503,
      'the host of the pod runs an agent that does not support this: its operator must upgrade it',
    ])
    expect([tunnel.served, tunnel.socket.readyState]).toEqual([[], WebSocket.READY_STATE_OPEN])
  })

  it('[NET-9] ends for both ends when its key is revoked, and when its pod stops', async () => {
    Object.assign(INGRESS_CHECKS, { everyMs: 20, maxAgeMs: 0 })
    const { id, commands } = await runPod()
    const other = await createKey(scene.account.userId)
    const kept = await enter(id)
    const revoked = await enter(id, '', { Authorization: `Bearer ${other.key}` })
    expect((await api(scene.account.key).delete(`/v2/account/keys/${other.id}`)).status).toBe(204)
    await until(() => revoked.closed !== null)
    expect(revoked.closed).toEqual({ code: 1008, reason: 'the pod does not run, or the key is not valid' })
    await until(() => commands[1]?.isOver === true)
    expect([kept.closed, commands[0]?.isOver]).toEqual([null, false])
    await scene.act(id, 'stop')
    await until(() => kept.closed !== null && commands[0]?.isOver === true)
  })

  it('[NET-6] ends on its host when the client leaves', async () => {
    const { id, commands } = await runPod()
    const socket = await enter(id)
    await until(() => commands.length === 1)
    socket.close()
    await until(() => commands[0]?.isOver === true)
  })

  it('[NET-9, NET-10] accepts a session and its account in the same way, and ends when that user leaves the account', async () => {
    Object.assign(INGRESS_CHECKS, { everyMs: 20, maxAgeMs: 0 })
    const { id, commands } = await runPod()
    const provider = await FakeProvider.start()
    const member = await createAccount()
    const teamId = await teamOf(scene.account)
    await joinTeam(teamId, member, 'DEV')
    const token = btoa(await provider.token({ email: member.email }))
    const named = `base64url.bearer.authorization.podplane.${token.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`
    const foreign = await ask(id, '', { 'Sec-WebSocket-Protocol': named })
    expect([foreign.status, commands.length]).toEqual([404, 0])
    const socket = await enter(id, '', { 'Sec-WebSocket-Protocol': `${named}, account.podplane.${teamId}` })
    await until(() => commands.length === 1)
    await env.DB.prepare('DELETE FROM memberships WHERE team_id = ? AND user_id = ?').bind(teamId, member.userId).run()
    await until(() => socket.closed !== null && commands[0]?.isOver === true)
  })

  it('[NET-10] takes a key from the protocols of a browser, and replies with a protocol that it offers', async () => {
    const { id } = await runPod()
    const key = btoa(scene.account.key).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
    const offered = `v4.channel.k8s.io, v5.channel.k8s.io, base64url.bearer.authorization.podplane.${key}`
    const reply = await ask(id, '', { 'Sec-WebSocket-Protocol': offered })
    reply.webSocket?.accept()
    expect([reply.status, reply.headers.get('sec-websocket-protocol')]).toEqual([101, 'v5.channel.k8s.io'])
    const plain = await send('/v2/pods', { headers: { 'Sec-WebSocket-Protocol': offered } })
    expect(plain.status).toBe(401)
  })
})
