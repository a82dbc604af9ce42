import { encodeRecord } from '../../../src/host-protocol/tunnel/socket-records.ts'
import {
  afterEach,
  createAccount,
  createKeyIn,
  createOrganization,
  describe,
  env,
  expect,
  it,
  runInDurableObject,
  send,
} from '../../support/harness.ts'
import { FakeTunnel, type Serve } from '../../support/hosts/fake-tunnel.ts'
import { PodScene, podScene } from '../../support/pods/pod-scene.ts'
import { hostTunnelStub } from '../../support/runner/stubs.ts'

// Data that clients of several accounts have not read from WebSockets of one host.

let scene: PodScene
afterEach(() => scene.leave())

const MIB = 2 ** 20

/** Sends as many MiB as the path says, then remains open. */
const notify: Serve = async ({ stream, target }) => {
  stream.accept()
  stream.sendHead({ status: 101, headers: [] })
  const record = encodeRecord({ kind: 'binary', bytes: new Uint8Array(MIB) })
  for (let received = 0; received < Number(target.path.slice(1)) && record !== null; received += 1) await stream.write(record)
}

async function openPod(owner: PodScene): Promise<string> {
  const { id } = await owner.createCpu({ ports: ['80/http'] })
  await owner.run(id)
  return id
}

/** A client that sends nothing: how its WebSocket ends, or that it has received everything. */
async function listen(pod: string, mib: number): Promise<{ end: string; socket: WebSocket | null }> {
  const { webSocket: socket, status } = await send(`/proxy/${pod}/80/${mib}`, { headers: { Upgrade: 'websocket' } })
  if (!socket) return { end: String(status), socket: null }
  let taken = 0
  const end = await new Promise<string>((resolve) => {
    socket.addEventListener('close', ({ code }) => resolve(String(code)))
    socket.addEventListener('message', () => {
      taken += 1
      if (taken === mib) resolve('open')
    })
    socket.accept()
  })
  return { end, socket }
}

describe('clients of WebSockets of one host that send nothing', () => {
  it('[SHR-43] of many pods of a person and of an organization that they made receive together no more than their share', async () => {
    scene = await podScene({})
    await FakeTunnel.open(scene.host, notify)
    // The clock stands still, so no credit returns over time on a slow machine.
    const nowMs = Date.now()
    await runInDurableObject(hostTunnelStub(env, scene.host.id), (object) => {
      object.now = () => nowMs
    })
    const victim = await openPod(scene)
    const before = await listen(victim, 1)
    expect(before.end).toBe('open')

    const account = await createAccount()
    const made = await createKeyIn(await createOrganization(account.key), account)
    const attackers = [account, { ...account, key: made.key }].map((one) => new PodScene(scene.host, one))
    const ends: string[] = []
    for (const attacker of attackers) {
      for (let number = 0; number < 2; number += 1) ends.push((await listen(await openPod(attacker), 14)).end)
    }
    expect(ends[0]).toBe('open')
    expect(ends.slice(1)).toContain('1013')

    expect(before.socket?.readyState).toBe(WebSocket.OPEN)
    expect((await listen(victim, 2)).end).toBe('open')
  }, 60_000)
})
