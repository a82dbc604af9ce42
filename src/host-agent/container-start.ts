import type { Workload } from '../host-protocol/messages.ts'
import type { KeptDisk } from './container-disk.ts'
import { buildContainerSpec, containerName, type HostContext, publishedPorts, type SpecContext } from './container-spec.ts'
import type { DockerEngine } from './docker-engine.ts'
import { engineText } from './engine-errors.ts'
import type { HostPorts } from './host-ports.ts'
import type { Log } from './log.ts'
import type { EngineMount } from './mounts/mount-driver.ts'
import { type PublishedPort, StartError, type Started, type StartHooks } from './runtime.ts'

/** How often a start is tried with other ports when the engine says that one is taken. */
const PORT_TRIES = 5

export interface ContainerStarterDeps extends HostContext {
  engine: DockerEngine
  ports: HostPorts
  log: Log
}

/** What the caller has made ready for one container. */
export interface Prepared {
  gpuIds: readonly string[]
  mounts: readonly EngineMount[]
  disk: KeptDisk | undefined
}

/** Creates and starts containers. */
export class ContainerStarter {
  private readonly deps: ContainerStarterDeps
  /** Whether the engine can limit a container's disk; found out by the first container that is to have a limit. */
  private limitsDisk = true

  constructor(deps: ContainerStarterDeps) {
    this.deps = deps
  }

  /** Throws a `StartError`; then there is no container. */
  async start(workload: Workload, prepared: Prepared, hooks: StartHooks): Promise<Started> {
    const refused = new Set<number>()
    for (let attempt = 1; ; attempt += 1) {
      const ports = await this.deps.ports.reserve(workload.id, workload.ports, hooks.formerPorts ?? [], refused)
      const context = { ...this.deps, ...prepared, ports, limitDisk: false }
      try {
        return await this.startOnce(workload, context)
      } catch (error) {
        this.deps.ports.release(workload.id)
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
    await this.create(name, workload, context)
    try {
      await engine.start(name)
      const facts = await engine.inspect(name)
      return { ports: publishedPorts(context.ports), startedAtMs: facts?.startedAtMs ?? Date.now() }
    } catch (error) {
      // Only what this call made: on a name conflict the container is somebody else's.
      await engine.remove(name).catch(() => {})
      throw error
    }
  }

  private async create(name: string, workload: Workload, context: SpecContext): Promise<void> {
    const { engine, log } = this.deps
    if (this.limitsDisk && workload.resources.diskGb > 0) {
      try {
        return await engine.create(name, buildContainerSpec(workload, { ...context, limitDisk: true }))
      } catch (error) {
        if (!/storage-opt/i.test(engineText(error))) throw error
        this.limitsDisk = false
        log.info('this engine cannot limit the disk of a container; sizes are reservations only', { error: engineText(error) })
      }
    }
    await engine.create(name, buildContainerSpec(workload, context))
  }
}

/** The port that the engine could not publish; undefined when the error is about something else. */
function takenPort(text: string, ports: readonly PublishedPort[]): number | undefined {
  if (!/port is already allocated|address already in use/i.test(text)) return undefined
  return ports.find((port) => new RegExp(`:${port.public}\\b`).test(text))?.public ?? ports[0]?.public
}
