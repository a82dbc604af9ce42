import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Workload } from '../../host-protocol/messages.ts'
import { OverlayPlace } from '../../host-protocol/overlays.ts'
import type { Log } from '../log.ts'
import type { HostOverlays } from '../network/overlay/host-overlays.ts'
import type { ReachChecks } from '../network/overlay/reach/reach-checks.ts'
import type { PublishedPlace } from '../network/published-address.ts'
import { StartError, type StartHooks } from '../runtime.ts'
import { makeTrialImage } from '../trial/trial-image.ts'
import { ACCOUNT_LABEL, accountOf, containerName, exposedPorts, HOST_LABEL, portBindings } from './container/container-spec.ts'
import type { ContainerSpec, DockerEngine } from './engine/engine.ts'
import { engineText } from './engine/engine-errors.ts'
import type { HostPorts } from './ports/host-ports.ts'
import type { AssignedPort } from './ports/port-choice.ts'
import { withPorts } from './ports/with-ports.ts'

const SANDBOX_LABEL = 'podplane.sandbox'
const PLACES_LABEL = 'podplane.overlays'
const MEMORY_BYTES = 16 * 2 ** 20

export interface SandboxesDeps extends PublishedPlace {
  engine: DockerEngine
  hostId: string
  /** What tells this agent from others of the engine. */
  key: string
  stateDir: string
  ports: HostPorts
  overlays: HostOverlays
  checks: Pick<ReachChecks, 'notePrepared' | 'forget'>
  log: Log
}

/** What holds the network of a workload. */
export interface Sandbox {
  name: string
  ports: AssignedPort[]
}

/**
 * Containers that do nothing but hold the network of a workload in private networks across hosts (adr/0035): all interfaces are there before the
 * workload's own container starts, and answer while it waits for the others.
 */
export class Sandboxes {
  private readonly deps: SandboxesDeps

  constructor(deps: SandboxesDeps) {
    this.deps = deps
  }

  /** Throws a `StartError`; then there is none. */
  async open(workload: Workload, network: string, hooks: StartHooks): Promise<Sandbox> {
    const { overlays, ports: hostPorts } = this.deps
    const places = workload.overlays ?? []
    const name = sandboxName(workload.id)
    const image = await this.provideImage()
    try {
      return await withPorts(hostPorts, workload, hooks, async (ports) => {
        await this.deps.engine.remove(name)
        await this.deps.engine.create(name, this.spec(workload, image, network, ports))
        await this.deps.engine.start(name)
        const facts = await this.deps.engine.inspect(name)
        if (facts?.pid == null) throw new Error('what holds its network does not run')
        await overlays.attach({ workloadId: workload.id, places, pid: facts.pid, hostsPath: facts.hostsPath })
        return { name, ports }
      })
    } catch (error) {
      await this.remove(workload.id)
      throw error
    }
  }

  /** All but the start itself is done. */
  noteReady(workloadId: string): void {
    this.deps.checks.notePrepared(workloadId)
  }

  /** That of a workload that has ended; nothing to close is fine. */
  async close(workloadId: string): Promise<void> {
    if (this.deps.overlays.has(workloadId)) await this.remove(workloadId)
  }

  private async remove(workloadId: string): Promise<void> {
    const { checks, engine, log, overlays } = this.deps
    checks.forget(workloadId)
    overlays.detach(workloadId)
    await engine.remove(sandboxName(workloadId)).catch((error: unknown) => {
      log.warn('what held the network of a workload cannot be removed yet', { workload: workloadId, error: engineText(error) })
    })
  }

  /** Picks up those of workloads that run, and removes the others. */
  async sweep(running: ReadonlySet<string>): Promise<void> {
    const { engine, hostId, overlays } = this.deps
    for (const id of running) this.noteReady(id)
    for (const { name, labels } of await engine.list(`${HOST_LABEL}=${hostId}`)) {
      const workloadId = labels[SANDBOX_LABEL]
      if (workloadId === undefined || name !== sandboxName(workloadId)) continue
      const facts = running.has(workloadId) ? await engine.inspect(name) : undefined
      if (facts?.pid == null) await this.remove(workloadId)
      else overlays.adopt({ workloadId, places: readPlaces(labels[PLACES_LABEL]), pid: facts.pid, hostsPath: facts.hostsPath })
    }
  }

  /** Addresses of a workload whose network is held for it. */
  async addressesOf(workloadId: string): Promise<string[]> {
    return (await this.deps.engine.inspect(sandboxName(workloadId)))?.addresses ?? []
  }

  private async provideImage(): Promise<string> {
    const { engine, key, stateDir } = this.deps
    const tag = `podplane-sandbox:${key}`
    if ((await engine.imageFacts(tag)) !== undefined) return tag
    const dir = join(stateDir, 'sandbox')
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    await engine.load(await makeTrialImage(dir, tag, 'waits'), AbortSignal.timeout(60_000)).catch((error: unknown) => {
      throw new StartError(`the container could not be started: ${engineText(error)}`)
    })
    return tag
  }

  private spec(workload: Workload, image: string, network: string, ports: AssignedPort[]): ContainerSpec {
    const { hostId, overlays } = this.deps
    const hostname = overlays.nameOf(workload.overlays ?? [])
    return {
      Image: image,
      ...(hostname === undefined ? {} : { Hostname: hostname }),
      Labels: {
        [HOST_LABEL]: hostId,
        [SANDBOX_LABEL]: workload.id,
        [PLACES_LABEL]: JSON.stringify(workload.overlays ?? []),
        [ACCOUNT_LABEL]: accountOf(workload),
      },
      ExposedPorts: exposedPorts(ports),
      HostConfig: {
        NetworkMode: network,
        PortBindings: portBindings({ ...this.deps, ports }),
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
        ReadonlyRootfs: true,
        Memory: MEMORY_BYTES,
        MemorySwap: MEMORY_BYTES,
        RestartPolicy: { Name: 'no' },
        LogConfig: { Type: 'none', Config: {} },
      },
    }
  }
}

/** No workload's id has a dot. */
function sandboxName(workloadId: string): string {
  return `${containerName(workloadId)}.net`
}

function readPlaces(label: string | undefined): OverlayPlace[] {
  try {
    return z.array(OverlayPlace).safeParse(JSON.parse(label ?? '[]')).data ?? []
  } catch {
    return []
  }
}
