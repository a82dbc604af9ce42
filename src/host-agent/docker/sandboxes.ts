import { z } from 'zod'
import type { Workload } from '../../host-protocol/messages.ts'
import { OverlayPlace } from '../../host-protocol/overlays.ts'
import { backoffMs, sleep } from '../../node/backoff.ts'
import { parseJson } from '../../node/json-file.ts'
import type { ContainerSpec, DockerEngine } from '../engine/engine.ts'
import { engineText } from '../engine/engine-errors.ts'
import { ACCOUNT_LABEL, HOST_LABEL, PAYER_LABEL } from '../engine/labels.ts'
import type { Log } from '../log.ts'
import type { ContainerNames } from '../network/dns/container-names.ts'
import type { HostOverlays } from '../network/overlay/host-overlays.ts'
import type { ReachChecks } from '../network/overlay/reach/reach-checks.ts'
import type { PublishedPlace } from '../network/published-address.ts'
import type { StartHooks } from '../runtime.ts'
import { accountOf, containerName, exposedPorts, portBindings, type Sandbox } from './container/container-spec.ts'
import { withPorts } from './container/with-ports.ts'
import { startRefused } from './engine/failure-text.ts'
import type { HostPorts } from './ports/host-ports.ts'
import type { AssignedPort } from './ports/port-choice.ts'
import { sandboxImage } from './sandbox-image.ts'

const SANDBOX_LABEL = 'podplane.sandbox'
const PLACES_LABEL = 'podplane.overlays'
const MEMORY_BYTES = 16 * 2 ** 20
/** Attempts to open one: no process of the workload has started by then, and a failure fails its whole cluster. */
const TRIES = 3
const RETRY_BASE_MS = 500
const RETRY_MAX_MS = 2_000

export interface SandboxesDeps extends PublishedPlace {
  engine: DockerEngine
  hostId: string
  /** Distinguishes this agent from others on the same engine. */
  key: string
  stateDir: string
  ports: HostPorts
  overlays: HostOverlays
  /** Answers names of private networks; undefined: the names are in `/etc/hosts` only. */
  names: Pick<ContainerNames, 'resolversFor' | 'close'> | undefined
  checks: Pick<ReachChecks, 'notePrepared' | 'discard'>
  log: Log
}

/**
 * Containers that only own the network of a workload in private networks across hosts (adr/0035): all interfaces exist before the
 * workload's own container starts, and answer while it waits for the other members.
 */
export class Sandboxes {
  private readonly deps: SandboxesDeps
  private readonly provideImage: () => Promise<string>

  constructor(deps: SandboxesDeps) {
    this.deps = deps
    this.provideImage = sandboxImage(deps)
  }

  /** Opens a sandbox, with retries (HOST-171). Throws a `StartError`; then there is no sandbox. */
  async open(workload: Workload, network: string, hooks: StartHooks): Promise<Sandbox> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await this.openOnce(workload, network, hooks)
      } catch (error) {
        if (failures + 1 >= TRIES || hooks.signal.aborted) throw startRefused(error, {})
        this.deps.log.warn('the network namespace of a workload could not be opened; the agent retries', {
          workload: workload.id,
          error: engineText(error),
        })
        await sleep(backoffMs(failures, RETRY_BASE_MS, RETRY_MAX_MS), hooks.signal)
      }
    }
  }

  private async openOnce(workload: Workload, network: string, hooks: StartHooks): Promise<Sandbox> {
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
        if (facts?.pid == null) throw new Error('the process that holds its network namespace does not run')
        await overlays.attach({ workloadId: workload.id, places, pid: facts.pid, addresses: facts.addresses, hostsPath: facts.hostsPath })
        return { name, ports }
      })
    } catch (error) {
      await this.remove(workload.id)
      throw error
    }
  }

  /** Notes that a workload is ready except for the start itself. */
  noteReady(workloadId: string): void {
    this.deps.checks.notePrepared(workloadId)
  }

  /** Closes the sandbox of an ended workload; a workload without one is no error. */
  async close(workloadId: string): Promise<void> {
    if (this.deps.overlays.has(workloadId)) await this.remove(workloadId)
  }

  private async remove(workloadId: string): Promise<void> {
    const { checks, engine, log, overlays } = this.deps
    checks.discard(workloadId)
    overlays.detach(workloadId)
    await engine.remove(sandboxName(workloadId)).catch((error: unknown) => {
      log.warn('the network namespace of a workload cannot be removed yet', { workload: workloadId, error: engineText(error) })
    })
  }

  /** Adopts the sandboxes of running workloads and removes the others. */
  async sweep(running: ReadonlySet<string>): Promise<void> {
    const { engine, hostId, overlays } = this.deps
    for (const id of running) this.noteReady(id)
    for (const { name, labels } of await engine.list(`${HOST_LABEL}=${hostId}`)) {
      const workloadId = labels[SANDBOX_LABEL]
      if (workloadId === undefined || name !== sandboxName(workloadId)) continue
      const facts = running.has(workloadId) ? await engine.inspect(name) : undefined
      if (facts?.pid == null) await this.remove(workloadId)
      else {
        const { pid, addresses, hostsPath } = facts
        const places = z.array(OverlayPlace).safeParse(parseJson(labels[PLACES_LABEL] ?? '')).data ?? []
        overlays.adopt({ workloadId, places, pid, addresses, hostsPath })
      }
    }
  }

  /** Stops the name server. Containers continue without the agent and find the names in `/etc/hosts`. */
  end(): void {
    this.deps.names?.close()
  }

  /** Addresses of a workload whose network a sandbox owns. */
  async addressesOf(workloadId: string): Promise<string[]> {
    return (await this.deps.engine.inspect(sandboxName(workloadId)))?.addresses ?? []
  }

  private spec(workload: Workload, image: string, network: string, ports: AssignedPort[]): ContainerSpec {
    const { hostId, overlays, names } = this.deps
    const domain = overlays.domainOf(workload.overlays ?? [])
    const hostname = overlays.nameOf(workload.overlays ?? [])
    return {
      Image: image,
      ...(hostname === undefined ? {} : { Hostname: hostname }),
      Labels: {
        [HOST_LABEL]: hostId,
        [SANDBOX_LABEL]: workload.id,
        [PLACES_LABEL]: JSON.stringify(workload.overlays ?? []),
        [ACCOUNT_LABEL]: accountOf(workload),
        ...(workload.payer !== undefined && { [PAYER_LABEL]: workload.payer }),
      },
      ExposedPorts: exposedPorts(ports),
      HostConfig: {
        NetworkMode: network,
        ...(domain === undefined ? {} : names?.resolversFor(domain)),
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

/** Name of a workload's sandbox; unique, because the id of a workload has no dot. */
function sandboxName(workloadId: string): string {
  return `${containerName(workloadId)}.net`
}
