import type { Workload } from '../../host-protocol/messages.ts'
import { backoffMs, sleep } from '../../node/backoff.ts'
import type { Log } from '../log.ts'
import type { EngineMount } from '../mounts/mount-driver.ts'
import { type PublishedPort, StartError, type Started, type StartHooks } from '../runtime.ts'
import type { EngineAbilities } from '../trial/engine-trial.ts'
import {
  buildContainerSpec,
  containerName,
  HOST_LABEL,
  type HostContext,
  publishedPorts,
  type SpecContext,
  WORKLOAD_LABEL,
} from './container-spec.ts'
import type { DockerEngine, KeptDisk } from './engine.ts'
import { EngineClientEnded, engineText } from './engine-errors.ts'
import type { HostPorts } from './host-ports.ts'

/** How often a start is tried with other ports when the engine says that one is taken. */
const PORT_TRIES = 5
const COMMAND_MAX_BYTES = 128 * 2 ** 10
const RETRY_BASE_MS = 250
const RETRY_MAX_MS = 10_000

export interface ContainerStarterDeps extends HostContext {
  engine: DockerEngine
  ports: HostPorts
  log: Log
}

/** What the caller has made ready for one container. */
export interface Prepared {
  gpuIds: readonly string[]
  mounts: readonly EngineMount[]
  network: string
  disk: KeptDisk | undefined
  abilities: EngineAbilities
}

/** Creates and starts containers. */
export class ContainerStarter {
  private readonly deps: ContainerStarterDeps

  constructor(deps: ContainerStarterDeps) {
    this.deps = deps
  }

  /** Throws a `StartError`; then there is no container. */
  async start(workload: Workload, prepared: Prepared, hooks: StartHooks): Promise<Started> {
    const refused = new Set<number>()
    checkCommand(workload)
    const { limitsDisk: limitDisk, raisesLimits } = prepared.abilities
    for (let attempt = 1; ; attempt += 1) {
      const ports = await this.deps.ports.reserve(workload.id, workload.ports, hooks.formerPorts ?? [], refused)
      const context = { ...this.deps, ...prepared, ports, limitDisk, raisesLimits }
      try {
        return await this.startOnce(workload, context)
      } catch (error) {
        this.deps.ports.release(workload.id)
        // Not this start's fault, or not for sure: once more, and no more often.
        if (error instanceof EngineClientEnded && attempt === 1) continue
        const port = takenPort(engineText(error), publishedPorts(ports))
        if (port === undefined) throw new StartError(`the container could not be started: ${engineText(error)}`)
        if (attempt === PORT_TRIES) throw new StartError(`port ${port} is already taken on this host`)
        refused.add(port)
      }
    }
  }

  private async startOnce(workload: Workload, context: SpecContext): Promise<Started> {
    const { engine } = this.deps
    const name = containerName(workload.id)
    try {
      await engine.create(name, buildContainerSpec(workload, context))
      await engine.start(name)
      const facts = await engine.inspect(name)
      return { ports: publishedPorts(context.ports), startedAtMs: facts?.startedAtMs ?? Date.now() }
    } catch (error) {
      await this.discard(name, workload.id)
      throw error
    }
  }

  /**
   * Removes what a failed start has left. The engine may have done what it did not answer any more, and be back in a moment with a container that
   * nobody would know of, so it is asked until it answers.
   */
  private async discard(name: string, workloadId: string): Promise<void> {
    const { engine, hostId, log } = this.deps
    for (let failures = 0; ; failures += 1) {
      try {
        // On a name conflict the container is somebody else's. One that cannot be looked at is listed.
        const own = await engine.list(`${HOST_LABEL}=${hostId}`, `${WORKLOAD_LABEL}=${workloadId}`)
        if (own.some((container) => container.name === name)) await engine.remove(name)
        return
      } catch (error) {
        log.warn('what a failed start has left cannot be removed yet', { workload: workloadId, error: engineText(error) })
        await sleep(backoffMs(failures, RETRY_BASE_MS, RETRY_MAX_MS))
      }
    }
  }
}

/** The engine repeats commands in its list of all containers, which has to be read at once (HOST-108). */
function checkCommand({ entrypoint, cmd }: Workload): void {
  if (Buffer.byteLength(JSON.stringify([entrypoint, cmd])) <= COMMAND_MAX_BYTES) return
  throw new StartError('the container could not be started: its entrypoint and command take more than 128 KiB')
}

/** The port that the engine could not publish; undefined when the error is about something else. */
function takenPort(text: string, ports: readonly PublishedPort[]): number | undefined {
  if (!/port is already allocated|address already in use/i.test(text)) return undefined
  return ports.find((port) => new RegExp(`:${port.public}\\b`).test(text))?.public ?? ports[0]?.public
}
