import { describe, test } from 'vitest'

import { ContainerStarter } from '../../../src/host-agent/docker/container/container-start.ts'
import { HostPorts } from '../../../src/host-agent/docker/ports/host-ports.ts'
import type { ContainerSpec, DockerEngine } from '../../../src/host-agent/engine/engine.ts'
import { silentLog } from '../../../src/host-agent/log.ts'
import type { Workload } from '../../../src/host-protocol/messages.ts'
import { makeWorkload } from '../support/workload.ts'

const CUT_OFF = new Error('socket hang up')

/** An engine in memory; the calls named in `lost` are carried out, but their answer never arrives. */
class FakeEngine {
  readonly containers = new Map<string, { labels: Record<string, string>; status: string; limited: boolean; limits: string[] }>()
  readonly lost: string[] = []
  /** Requests that fail before the engine is back. */
  away = 0
  refuse: (spec: ContainerSpec) => Error | undefined = () => undefined

  async create(name: string, spec: ContainerSpec): Promise<void> {
    const refusal = this.refuse(spec)
    if (refusal) throw refusal
    if (this.containers.has(name)) throw new Error('the container name is already in use')
    const limits = (spec.HostConfig?.Ulimits ?? []).map(({ Name }) => String(Name))
    const limited = spec.HostConfig?.StorageOpt !== undefined
    this.containers.set(name, { labels: { ...spec.Labels }, status: 'created', limited, limits })
    this.answer('create')
  }
  async start(name: string): Promise<void> {
    const container = this.containers.get(name)
    if (container) container.status = 'running'
    this.answer('start')
  }
  async inspect(name: string) {
    const found = this.containers.get(name)
    return found && { ...found, startedAtMs: 5 }
  }
  async list() {
    this.beThere()
    return [...this.containers].filter(([, { labels }]) => labels['podplane.host'] === 'h1').map(([name]) => ({ name }))
  }
  async remove(name: string): Promise<void> {
    this.beThere()
    this.containers.delete(name)
  }
  private answer(call: string): void {
    if (this.lost.includes(call)) throw CUT_OFF
  }
  private beThere(): void {
    if (this.away > 0) {
      this.away -= 1
      throw CUT_OFF
    }
  }
}

describe('starting a container', () => {
  function open(abilities = { limitsDisk: true, raisesLimits: true }) {
    const engine = new FakeEngine()
    const starter = new ContainerStarter({
      engine: engine as unknown as DockerEngine,
      ports: new HostPorts({ range: { from: 30_000, to: 30_010 }, isFree: async () => true }),
      log: silentLog(),
      hostId: 'h1',
      relayUrl: 'http://172.17.0.1:4000',
      publicIp: null,
      httpIp: '127.0.0.1',
      ownAddresses: new Set(),
      ...{ engineRuntime: undefined, cgroupNamespaces: true, pidMax: 32_768, openFilesMax: 1_048_576 },
      realVcpus: 4,
      realMemoryMb: 8_000,
    })
    const hooks = { onState: () => {}, signal: new AbortController().signal }
    const start = (change: Partial<Workload> = {}) =>
      starter.start(
        makeWorkload({ id: 'p-1', image: 'nginx', ...change }),
        { gpuIds: [], mounts: [], network: 'n', disk: undefined, abilities },
        hooks,
      )
    return { engine, start }
  }

  for (const call of ['create', 'start']) {
    test(`[HOST-51] an engine that goes away while it does '${call}' comes back without an unknown container`, async ({ expect }) => {
      const { engine, start } = open()
      engine.lost.push(call)
      engine.away = 2
      await expect(start()).rejects.toThrow('the container engine of this host was interrupted')
      expect(engine.containers.size).toBe(0)
    })
  }

  test('a container of the same name that belongs to another program stays', async ({ expect }) => {
    const { engine, start } = open()
    engine.containers.set('podplane-p-1', { labels: { 'podplane.host': 'h2' }, status: 'running', limited: false, limits: [] })
    await expect(start()).rejects.toThrow('a container with the same name still exists')
    expect(engine.containers.size).toBe(1)
  })

  test('[HOST-107] an error of the engine at one start changes no other: that one fails, and the next has all its limits', async ({
    expect,
  }) => {
    const { engine, start } = open()
    const resources = { vcpus: 0, memoryMb: 0, diskGb: 10, gpu: null }
    // A tenant's text, for example a command, in an error of the engine that occurs once.
    for (const words of ['error setting rlimit type 7', 'mount point /storage-opt']) {
      let isFirst = true
      engine.refuse = () => {
        const refusal = isFirst ? new Error(`no such program: ${words}`) : undefined
        isFirst = false
        return refusal
      }
      await expect(start({ resources })).rejects.toMatchObject({ name: 'StartError', detail: `no such program: ${words}` })
      await start({ id: 'p-2', resources })
      expect(engine.containers.get('podplane-p-2')).toMatchObject({ limited: true, limits: ['core', 'nofile'] })
      engine.containers.clear()
    }
  })

  test('[HOST-64, HOST-88] an engine with fewer features gets a smaller request', async ({ expect }) => {
    const { engine, start } = open({ limitsDisk: false, raisesLimits: false })
    await start({ resources: { vcpus: 0, memoryMb: 0, diskGb: 10, gpu: null } })
    expect(engine.containers.get('podplane-p-1')).toMatchObject({ limited: false, limits: ['core'] })
  })

  test('[HOST-108] a command that would make the list of all containers too long is refused', async ({ expect }) => {
    const { engine, start } = open()
    await expect(start({ cmd: Array.from({ length: 140 }, () => 'x'.repeat(1_024)) })).rejects.toThrow('exceed 128 KiB')
    expect(engine.containers.size).toBe(0)
  })

  test('[HOST-109] the container of a failed start is removed even if it cannot be inspected', async ({ expect }) => {
    const { engine, start } = open()
    engine.lost.push('start')
    engine.inspect = async () => Promise.reject(new Error('json: cannot unmarshal'))
    await expect(start()).rejects.toThrow('the container engine of this host was interrupted')
    expect(engine.containers.size).toBe(0)
  })
})
