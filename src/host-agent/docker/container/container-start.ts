import type { Workload } from '../../../host-protocol/messages.ts'
import { backoffMs, sleep } from '../../../node/backoff.ts'
import type { DockerEngine } from '../../engine/engine.ts'
import { engineText } from '../../engine/engine-errors.ts'
import { HOST_LABEL, WORKLOAD_LABEL } from '../../engine/labels.ts'
import type { Log } from '../../log.ts'
import type { EngineAbilities } from '../../probe/engine-probe.ts'
import { StartError, type Started, type StartHooks } from '../../runtime.ts'
import { startRefused } from '../engine/failure-text.ts'
import type { HostPorts } from '../ports/host-ports.ts'
import type { Sandbox } from './container-spec.ts'
import { buildContainerSpec, containerName, type HostContext, publishedPorts, type SpecContext } from './container-spec.ts'
import { writePlatformFiles } from './platform-files.ts'
import { withPorts } from './with-ports.ts'

const COMMAND_MAX_BYTES = 128 * 2 ** 10
const RETRY_BASE_MS = 250
const RETRY_MAX_MS = 10_000

export interface ContainerStarterDeps extends HostContext {
  engine: DockerEngine
  ports: HostPorts
  log: Log
}

/** Resources that the caller has prepared for one container. */
export interface Prepared extends Pick<SpecContext, 'gpuIds' | 'mounts' | 'network' | 'disk'> {
  /** The sandbox that owns its network; undefined: the container gets its own. */
  sandbox?: Sandbox | undefined
  abilities: EngineAbilities
}

/** Creates and starts containers. */
export class ContainerStarter {
  private readonly deps: ContainerStarterDeps

  constructor(deps: ContainerStarterDeps) {
    this.deps = deps
  }

  /** Creates and starts a container. Throws a `StartError`; then there is no container. */
  async start(workload: Workload, prepared: Prepared, hooks: StartHooks): Promise<Started> {
    checkCommand(workload)
    const { limitsDisk: limitDisk, raisesLimits } = prepared.abilities
    const { sandbox } = prepared
    const context = { ...this.deps, ...prepared, sandbox: sandbox?.name, limitDisk, raisesLimits }
    if (sandbox === undefined)
      return await withPorts(this.deps.ports, workload, hooks, (ports) => this.startOnce(workload, { ...context, ports }))
    try {
      return await this.startOnce(workload, { ...context, ports: sandbox.ports })
    } catch (error) {
      throw startRefused(error, workload)
    }
  }

  private async startOnce(workload: Workload, context: SpecContext): Promise<Started> {
    const { engine } = this.deps
    const name = containerName(workload.id)
    try {
      await engine.create(name, buildContainerSpec(workload, context))
      await writePlatformFiles(engine, name, workload.files ?? [])
      await engine.start(name)
      const facts = await engine.inspect(name)
      return { ports: publishedPorts(context.ports), startedAtMs: facts?.startedAtMs ?? Date.now() }
    } catch (error) {
      await this.discard(name, workload.id)
      throw error
    }
  }

  /**
   * Removes what a failed start has left, and retries until the engine answers. The engine may have carried out a call without answering
   * it, and would otherwise come back with a container that no record names.
   */
  private async discard(name: string, workloadId: string): Promise<void> {
    const { engine, hostId, log } = this.deps
    for (let failures = 0; ; failures += 1) {
      try {
        // After a name conflict the container belongs to another host. The list includes containers that cannot be inspected.
        const own = await engine.list(`${HOST_LABEL}=${hostId}`, `${WORKLOAD_LABEL}=${workloadId}`)
        if (own.some((container) => container.name === name)) await engine.remove(name)
        return
      } catch (error) {
        log.warn('leftovers of a failed start cannot be removed yet', { workload: workloadId, error: engineText(error) })
        await sleep(backoffMs(failures, RETRY_BASE_MS, RETRY_MAX_MS))
      }
    }
  }
}

/** The engine repeats commands in its list of all containers, which must stay below the limit of an answer (HOST-108). */
function checkCommand({ entrypoint, cmd }: Workload): void {
  if (Buffer.byteLength(JSON.stringify([entrypoint, cmd])) <= COMMAND_MAX_BYTES) return
  throw new StartError('the container could not be started: its entrypoint and command exceed 128 KiB')
}
