import { TUNNEL_PING } from '../../../src/host-protocol/tunnel/frames.ts'
import {
  afterEach,
  api,
  createAccount,
  createEndpoint,
  createKeyIn,
  createOrganization,
  describe,
  env,
  expect,
  it,
  runInDurableObject,
  send,
} from '../../support/harness.ts'
import type { Serve } from '../../support/hosts/fake-tunnel.ts'
import { FakeTunnel, reply } from '../../support/hosts/fake-tunnel.ts'
import { PlayedCommand } from '../../support/http/channel-socket.ts'
import { type PodBody, PodScene, podScene } from '../../support/pods/pod-scene.ts'
import { hostTunnelStub } from '../../support/runner/stubs.ts'
import { until } from '../../support/time.ts'

// Streams of several accounts into one host.

let scene: PodScene
const leave: AbortController[] = []
const pings: ReturnType<typeof setInterval>[] = []
afterEach(() => {
  for (const ping of pings.splice(0)) clearInterval(ping)
  for (const visits of leave.splice(0)) visits.abort()
  scene.leave()
})

const ALONE = 672

/** `/never` receives no response; other paths reply, and commands start. */
const serve: Serve = ({ stream, opened }) => {
  if (opened.kind === 'exec') return void new PlayedCommand(stream)
  stream.accept()
  if ('path' in opened && opened.path === '/never') return undefined
  return reply(stream, 200, 'hello')
}

/** The tunnel of the host, which pings as an agent does, because many requests take long on a busy machine. */
async function openTunnel(how: Serve): Promise<FakeTunnel> {
  const tunnel = await FakeTunnel.open(scene.host, how)
  pings.push(setInterval(() => tunnel.socket.send(TUNNEL_PING), 5_000))
  return tunnel
}

async function openPod(owner: PodScene): Promise<PodBody> {
  const pod = await owner.createCpu({ ports: ['80/http'] })
  await owner.run(pod.id)
  return pod
}

/** Sends requests that receive no response; returns the problems of refused ones. */
function occupy(pods: readonly string[], each: number): { refused: string[]; over: Promise<unknown> } {
  const visits = new AbortController()
  leave.push(visits)
  const refused: string[] = []
  const one = async (id: string) => {
    const answer = await send(`/proxy/${id}/80/never`, { signal: visits.signal }).catch(() => null)
    if (answer !== null) refused.push(`${answer.status} ${((await answer.json()) as { detail: string }).detail}`)
  }
  return { refused, over: Promise.all(pods.flatMap((id) => Array.from({ length: each }, () => one(id)))) }
}

describe('the streams into one host', () => {
  it('[S16] [SHR-30, SHR-32] eight pods with 128 silent requests each, of an account and of an organization that it made, do not block the pages, terminals and endpoints of other accounts', async () => {
    scene = await podScene({})
    const tunnel = await openTunnel(serve)
    const victim = await openPod(scene)
    const endpointId = await createEndpoint(scene.account.key, {
      type: 'LOAD_BALANCER',
      image: 'registry.example/app:1',
      workers: { min: 1, max: 1, idleTimeout: 60 },
    })
    const { id: worker } = await scene.host.startWorker(endpointId)
    await scene.host.report(worker, { state: 'running', health: 'healthy' })
    const call = api(scene.account.key)
    const served = async () => {
      const page = await send(`/proxy/${victim.id}/80/`)
      const terminal = await send(`/v2/pods/${victim.id}/exec`, {
        headers: { Upgrade: 'websocket', Authorization: `Bearer ${scene.account.key}` },
      })
      terminal.webSocket?.accept()
      terminal.webSocket?.close(1000, 'done')
      const balanced = await send(`/lb/${endpointId}/`, { headers: { Authorization: `Bearer ${scene.account.key}` } })
      const { body } = await call.get(`/v2/pods/${victim.id}`)
      return [page.status, await page.text(), terminal.status, balanced.status, await balanced.text(), body.status]
    }
    const before = await served()
    expect(before).toEqual([200, 'hello', 101, 200, 'hello', 'RUNNING'])
    await until(() => tunnel.openStreams === 0)

    const account = await createAccount()
    const made = await createKeyIn(await createOrganization(account.key), account)
    const attackers = [account, { ...account, key: made.key }].map((one) => new PodScene(scene.host, one))
    const pods: string[] = []
    for (const attacker of attackers) for (let number = 0; number < 4; number += 1) pods.push((await openPod(attacker)).id)
    const { refused, over } = occupy(pods, 128)
    await until(() => tunnel.openStreams + refused.length === 1_024)
    expect([tunnel.openStreams, new Set(refused)]).toEqual([
      ALONE,
      new Set([
        `503 the pod could not be reached: the host of the pod accepts no more connections: its account has ${ALONE} connections there, which is its share; end some of them or retry later`,
      ]),
    ])
    expect(await served()).toEqual(before)
    // The streams of the other account remain open.
    await until(() => tunnel.openStreams === ALONE)

    // The plane notices that a client has reset its connection although nothing is written to it.
    for (const visits of leave.splice(0)) visits.abort()
    await over
    await until(() => tunnel.openStreams === 0)
  }, 120_000)

  it('[S16] [SHR-32] a WebSocket ends with its client although its worker never closes', async () => {
    scene = await podScene({})
    const tunnel = await openTunnel(({ stream }) => {
      stream.accept()
      stream.sendHead({ status: 101, headers: [] })
    })
    const pod = await openPod(scene)
    const headers = { Upgrade: 'websocket', Authorization: `Bearer ${scene.account.key}` }
    for (const path of [`/proxy/${pod.id}/80/`, `/v2/pods/${pod.id}/exec`]) {
      const { webSocket } = await send(path, { headers })
      webSocket?.accept()
      expect(tunnel.openStreams, path).toBe(1)
      webSocket?.close(1000, 'done')
      await until(() => tunnel.openStreams === 0)
    }
  })

  it('[SHR-33] a pod whose visits are all silent accepts a further one a minute later, in place of the most silent one', async () => {
    scene = await podScene({})
    const tunnel = await openTunnel(serve)
    const pod = await openPod(scene)
    // The requests are a minute old, but the ping of the tunnel is recent.
    const openAt = (agoMs: number) =>
      runInDurableObject(hostTunnelStub(env, scene.host.id), (object) => {
        object.now = () => Date.now() - agoMs
      })
    await openAt(60_000)
    const { refused } = occupy([pod.id], 128)
    await until(() => tunnel.openStreams === 128)
    const visit = async () => (await send(`/proxy/${pod.id}/80/`)).status
    expect([await visit(), refused]).toEqual([503, []])
    await openAt(0)
    expect(await visit()).toBe(200)
    await until(() => refused.length > 0)
    expect([refused, tunnel.openStreams]).toEqual([
      [expect.stringMatching(/^502 the pod did not finish its response: it was silent for a minute, and a newer request /)],
      127,
    ])
  })
})
