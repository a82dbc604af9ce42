import { HostLinkReplacements } from '../../../durable-objects/host/link/link-replacements.ts'
import type { WorkloadStore } from '../../../durable-objects/host/workload-store.ts'
import type { PlaneMessage } from '../../../src/host-protocol/messages.ts'
import { setLogLevel } from '../../../src/platform/log.ts'
import { admin, afterEach, describe, env, expect, it, runInDurableObject, vi } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { freezeHostClock, moveHostClock } from '../../support/hosts/hosts.ts'
import { podScene } from '../../support/pods/pod-scene.ts'
import { hostStub } from '../../support/runner/stubs.ts'
import { SOON } from '../../support/time.ts'

const HOUR_MS = 3_600_000
/** An attacker's headers; the address that they claim is ignored. */
const THIEF = {
  'podplane-agent-process': 'another',
  'x-podplane-address': '127.0.0.1',
  'cf-connecting-ip': '203.0.113.9',
  'x-forwarded-for': '127.0.0.1, 203.0.113.9',
}

afterEach(() => {
  vi.restoreAllMocks()
  setLogLevel('error')
})

/** An attacker with the host's key who opens a link and sends only the messages of the test. */
class Thief {
  readonly heard: PlaneMessage[] = []
  private readonly socket: WebSocket
  private readonly closed: Promise<number>

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.addEventListener('message', (event) => {
      this.heard.push(JSON.parse(String(event.data)) as PlaneMessage)
    })
    this.closed = new Promise((resolve) => socket.addEventListener('close', (event) => resolve(event.code)))
    socket.accept()
  }

  static async of(host: FakeHost, headers: Record<string, string> = THIEF): Promise<Thief> {
    const { webSocket } = await host.openLink(headers)
    if (!webSocket) throw new Error('no socket')
    return new Thief(webSocket)
  }

  say(message: unknown): void {
    this.socket.send(JSON.stringify(message))
  }

  /** The close code with which the plane ends the link. */
  ended(): Promise<number> {
    return this.closed
  }
}

const INVENTORY = {
  agentVersion: 'test',
  protocolVersion: 1,
  os: 'test',
  vcpus: 8,
  memoryMb: 16_384,
  diskGb: 100,
  gpus: [],
  runtimes: ['docker'],
  simulated: false,
}
const HELLO = { type: 'hello', inventory: INVENTORY, workloads: [] }

async function shown(host: FakeHost) {
  const { health, statusReason, linkReplacements } = (await admin().get(`/admin/v1/hosts/${host.id}`)).body
  return { health, statusReason, linkReplacements }
}

const NEVER = { count: 0, lastAt: null, lastAddress: null }

describe('a second link with the key of a host', () => {
  it('[M9] [HOST-78] receives nothing and ends nothing before it has said hello', async () => {
    const scene = await podScene()
    const { host } = scene
    const closes: number[] = []
    host.onClose((code) => void closes.push(code))
    const thief = await Thief.of(host)
    const { id } = await scene.create({ env: { DB_PASSWORD: 'hunter2' } })
    const workload = await host.waitFor(({ platformEnv }) => platformEnv.RUNPOD_POD_ID === id)
    expect(workload.env.DB_PASSWORD).toBe('hunter2')
    thief.say({ type: 'beat', beat: 1, appliedRevision: 0, sentAt: 0, workloads: [] })
    expect(await thief.ended()).toBe(4001)
    await host.beat()
    expect([thief.heard, closes, await shown(host)]).toEqual([[], [], { health: 'HEALTHY', statusReason: null, linkReplacements: NEVER }])
    scene.leave()
  })

  it('[M9] [HOST-77] that says hello takes the place of the first; it is counted and shown, for an hour as a problem', async () => {
    const host = await FakeHost.join()
    const nowMs = await freezeHostClock(host.id)
    const closed = new Promise<number>((resolve) => host.onClose(resolve))
    expect(await shown(host)).toEqual({ health: 'HEALTHY', statusReason: null, linkReplacements: NEVER })
    const thief = await Thief.of(host)
    thief.say(HELLO)
    expect(await closed).toBe(4000)
    const once = { count: 1, lastAt: new Date(nowMs).toISOString(), lastAddress: '203.0.113.9' }
    await vi.waitFor(async () => {
      expect(await shown(host)).toEqual({
        health: 'UNHEALTHY',
        statusReason: expect.stringContaining('another agent process replaced its connection'),
        linkReplacements: { ...once, lastAt: expect.stringContaining(once.lastAt.slice(0, 19)) },
      })
    }, SOON)
    await host.link()
    expect(await thief.ended()).toBe(4000)
    expect((await shown(host)).linkReplacements).toMatchObject({ count: 2 })
    await moveHostClock(host.id, HOUR_MS)
    await host.link()
    await host.beat()
    expect(await shown(host)).toMatchObject({ health: 'HEALTHY', statusReason: null, linkReplacements: { count: 2 } })
    host.leave()
  })

  it('[HOST-77] of the same agent process, or after the first has ended, is not reported', async () => {
    const host = await FakeHost.join()
    await host.link()
    await host.link()
    expect(await shown(host)).toEqual({ health: 'HEALTHY', statusReason: null, linkReplacements: NEVER })
    host.leave()
  })

  it('[HOST-77] is a line of the log without secrets', async () => {
    const host = await FakeHost.join()
    const lines: unknown[] = []
    vi.spyOn(console, 'warn').mockImplementation((line: string) => void lines.push(JSON.parse(line)))
    await runInDurableObject(hostStub(env, host.id), (object) => {
      setLogLevel('warn')
      const { store } = object as unknown as { store: WorkloadStore }
      const replacements = new HostLinkReplacements(store, () => 5)
      replacements.note({ process: 'b', address: '203.0.113.9' }, { process: 'a', address: '198.51.100.7' })
      replacements.note({ process: null, address: null }, { process: null, address: null })
      replacements.note({ process: 'b', address: null }, { process: 'b', address: null })
    })
    const line = { level: 'warn', message: 'host link replaced', hostId: host.id }
    expect(lines).toMatchObject([
      { ...line, address: '203.0.113.9', previousAddress: '198.51.100.7', count: 1 },
      { ...line, address: null, count: 2 },
    ])
    expect(lines).toHaveLength(2)
    host.leave()
  })
})
