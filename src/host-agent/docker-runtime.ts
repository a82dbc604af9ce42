import type { Workload } from '../host-protocol/messages.ts'
import { backoffMs, sleep } from './backoff.ts'
import { BUILTIN_PREFIX } from './builtin/names.ts'
import {
  buildContainerSpec,
  containerName,
  GPUS_LABEL,
  HOST_LABEL,
  publishedPorts,
  type SpecContext,
  WORKLOAD_LABEL,
} from './container-spec.ts'
import { type ContainerFacts, type DockerEngine, engineText } from './docker-engine.ts'
import { parseDockerLogs } from './docker-logs.ts'
import { DockerOutput } from './docker-output.ts'
import { describeExit, OUTPUT_TAIL_LINES } from './exit-reason.ts'
import { chooseGpus, type HostGpus } from './gpu-allocation.ts'
import type { Log } from './log.ts'
import {
  type OutputChunk,
  type PublishedPort,
  type Runtime,
  type RuntimeWorkload,
  StartError,
  type StartHooks,
  type WorkloadExit,
} from './runtime.ts'

const RETRY_BASE_MS = 500
const RETRY_MAX_MS = 10_000
const OUTPUT_RETRY_BASE_MS = 20

export interface DockerRuntimeOptions extends Omit<SpecContext, 'gpuIds'> {
  engine: DockerEngine
  gpus: HostGpus
  log: Log
}

/** Runs workloads as containers of the machine's Docker engine; touches only containers that carry this host's label. */
export class DockerRuntime implements Runtime {
  readonly name = 'docker'
  private readonly options: DockerRuntimeOptions
  private readonly gpusInUse = new Map<string, readonly string[]>()

  constructor(options: DockerRuntimeOptions) {
    this.options = options
  }

  canRun(image: string): boolean {
    return !image.startsWith(BUILTIN_PREFIX)
  }

  async start(workload: Workload, hooks: StartHooks): Promise<{ ports: PublishedPort[] }> {
    const { engine } = this.options
    await this.provideImage(workload.image, hooks)
    hooks.signal.throwIfAborted()
    hooks.onState('starting')
    const gpuIds = this.reserveGpus(workload)
    const name = containerName(workload.id)
    let created = false
    try {
      await engine.create(name, buildContainerSpec(workload, { ...this.options, gpuIds }))
      created = true
      await engine.start(name)
      const facts = await engine.inspect(name)
      return { ports: publishedPorts(workload.ports, facts?.hostPorts ?? {}) }
    } catch (error) {
      this.gpusInUse.delete(workload.id)
      // Only what this call made: on a name conflict the container is somebody else's.
      if (created) await engine.remove(name).catch(() => {})
      throw new StartError(`the container could not be started: ${engineText(error)}`)
    }
  }

  private async provideImage(image: string, hooks: StartHooks): Promise<void> {
    const { engine, log } = this.options
    try {
      if (await engine.hasImage(image)) return
      hooks.onState('pulling')
      log.info('pulling an image', { image })
      await engine.pull(image, hooks.signal)
    } catch (error) {
      throw new StartError(`image pull failed: ${engineText(error)}`)
    }
  }

  private reserveGpus(workload: Workload): string[] {
    const inUse = new Set([...this.gpusInUse.values()].flat())
    const gpuIds = chooseGpus(this.options.gpus, inUse, workload.resources.gpu)
    if (gpuIds === undefined) {
      const wanted = workload.resources.gpu
      throw new StartError(`this host has no ${wanted?.count} free GPU(s) of type '${wanted?.typeId}'`)
    }
    this.gpusInUse.set(workload.id, gpuIds)
    return gpuIds
  }

  async watch(id: string): Promise<WorkloadExit> {
    const { engine, log } = this.options
    const name = containerName(id)
    for (let failures = 0; ; ) {
      try {
        await engine.wait(name).catch(ignoreMissing)
        const facts = await this.inspectOwn(id)
        if (facts === undefined) return { exitCode: null, reason: 'the container was removed by somebody else' }
        if (isEnded(facts)) return await this.describe(name, facts)
        // Being removed, say; without a pause this would ask as fast as the engine answers.
        await sleep(RETRY_BASE_MS)
        failures = 0
      } catch (error) {
        // The engine is being restarted, say: the container may well go on running.
        log.warn('Docker does not answer; will ask again', { workload: id, error: engineText(error) })
        await sleep(backoffMs(failures, RETRY_BASE_MS, RETRY_MAX_MS))
        failures += 1
      }
    }
  }

  private async describe(name: string, facts: ContainerFacts): Promise<WorkloadExit> {
    const raw = await this.options.engine.readLogs(name, OUTPUT_TAIL_LINES).catch(() => Buffer.alloc(0))
    const { exitCode, outOfMemory } = facts
    return { exitCode, reason: describeExit({ exitCode, outOfMemory, signal: null, tail: parseDockerLogs(raw) }) }
  }

  async followOutput(id: string, position: unknown, take: (chunk: OutputChunk) => void, signal: AbortSignal): Promise<void> {
    const from = { position }
    const takeAndRemember = (chunk: OutputChunk) => {
      from.position = chunk.position
      take(chunk)
    }
    let ended = false
    for (let answers = 0; !signal.aborted; answers += 1) {
      await this.readOutput(id, from.position, takeAndRemember, signal)
      // The answer may end before the output does, as when the engine is restarted. Only one that began after the end is complete.
      if (ended) return
      const facts = await this.inspectOwn(id)
      if (facts === undefined) return
      ended = isEnded(facts)
      // The engine ends the answer a moment before it says that the container has ended, and a removal waits for this.
      if (!ended) await sleep(backoffMs(answers, OUTPUT_RETRY_BASE_MS, RETRY_MAX_MS), signal)
    }
  }

  private async readOutput(id: string, position: unknown, take: (chunk: OutputChunk) => void, signal: AbortSignal): Promise<void> {
    const output = new DockerOutput(position)
    try {
      for await (const data of await this.options.engine.followLogs(containerName(id), output.sinceSeconds, signal)) {
        const chunk = output.read(data)
        if (chunk !== undefined) take(chunk)
      }
    } catch (error) {
      if (!signal.aborted) ignoreMissing(error)
    }
  }

  async stop(id: string, graceMs: number): Promise<void> {
    if ((await this.inspectOwn(id)) === undefined) return
    await this.options.engine.stop(containerName(id), Math.ceil(graceMs / 1000))
  }

  async remove(id: string): Promise<void> {
    if ((await this.inspectOwn(id)) !== undefined) await this.options.engine.remove(containerName(id))
    this.gpusInUse.delete(id)
  }

  private async inspectOwn(id: string): Promise<ContainerFacts | undefined> {
    const facts = await this.options.engine.inspect(containerName(id))
    return facts?.labels[HOST_LABEL] === this.options.hostId ? facts : undefined
  }

  async list(): Promise<RuntimeWorkload[]> {
    const names = await this.options.engine.listNames(`${HOST_LABEL}=${this.options.hostId}`)
    const found = await Promise.all(names.map((name) => this.options.engine.inspect(name)))
    return found.flatMap((facts) => {
      const id = facts?.labels[WORKLOAD_LABEL]
      if (facts === undefined || id === undefined) return []
      this.gpusInUse.set(
        id,
        (facts.labels[GPUS_LABEL] ?? '').split(',').filter((gpu) => gpu !== ''),
      )
      return [{ id, phase: facts.status === 'created' ? 'created' : isEnded(facts) ? 'ended' : 'running', ports: [] }]
    })
  }

  close(): void {}
}

function isEnded(facts: ContainerFacts): boolean {
  return facts.status === 'exited' || facts.status === 'dead'
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error && 'statusCode' in error && error.statusCode === 404)) throw error
}
