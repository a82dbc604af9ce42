import { z } from 'zod'
import { BUILTIN_PREFIX } from '../../host-protocol/builtin-images.ts'
import type { Workload } from '../../host-protocol/messages.ts'
import { backoffMs, sleep } from '../../node/backoff.ts'
import { errorText } from '../../node/fail.ts'
import { chooseGpus, type HostGpus } from '../gpus/allocation.ts'
import type { Log } from '../log.ts'
import { type GuardedViews, isViewUnseen } from '../mounts/guarded-view.ts'
import { type MountDrivers, provideMounts } from '../mounts/mount-driver.ts'
import type { HostNetwork } from '../network/host-network.ts'
import { type RelayCallers, relayKeyHash } from '../relay/door/callers.ts'
import {
  type OutputChunk,
  type PublishedPort,
  type Runtime,
  type RuntimeWorkload,
  StartError,
  type Started,
  type StartHooks,
  type Usage,
  type WorkloadExit,
} from '../runtime.ts'
import { ContainerDisks } from './container-disk.ts'
import { ContainerImages, type ImagePolicy } from './container-image.ts'
import {
  accountOf,
  containerName,
  GPUS_LABEL,
  HOST_LABEL,
  type HostContext,
  PORTS_LABEL,
  RELAY_KEY_LABEL,
  WORKLOAD_LABEL,
} from './container-spec.ts'
import { ContainerStarter, type Prepared } from './container-start.ts'
import { isEnded, watchContainer } from './container-watch.ts'
import type { ContainerFacts, DockerEngine, KeptDisk } from './engine.ts'
import { ignoring } from './engine-errors.ts'
import type { HostPorts } from './host-ports.ts'
import { DockerOutput } from './output.ts'

const RETRY_MAX_MS = 10_000
const OUTPUT_RETRY_BASE_MS = 20

const Ports = z.array(z.object({ private: z.number(), public: z.number(), type: z.string() }))

export interface DockerRuntimeOptions extends HostContext {
  engine: DockerEngine
  gpus: HostGpus
  ports: HostPorts
  mounts: MountDrivers
  views: GuardedViews
  network: Pick<HostNetwork, 'within'>
  images: ImagePolicy
  callers: RelayCallers
  stateDir: string
  log: Log
}

/** Runs workloads as containers of the machine's Docker engine; touches only containers that carry this host's label. */
export class DockerRuntime implements Runtime {
  readonly name = 'docker'
  readonly keepsDisk = true
  private readonly options: DockerRuntimeOptions
  private readonly images: ContainerImages
  private readonly disks: ContainerDisks
  private readonly starter: ContainerStarter
  private readonly gpusInUse = new Map<string, readonly string[]>()

  constructor(options: DockerRuntimeOptions) {
    this.options = options
    this.images = new ContainerImages(options)
    this.disks = new ContainerDisks(options.engine, options.hostId)
    this.starter = new ContainerStarter(options)
  }

  canRun(image: string): boolean {
    return !image.startsWith(BUILTIN_PREFIX)
  }

  async start(workload: Workload, hooks: StartHooks): Promise<Started> {
    const { disk, image } = await this.provideRoot(workload, hooks)
    try {
      const mounts = await provideMounts(workload.mounts ?? [], this.options.mounts)
      hooks.signal.throwIfAborted()
      hooks.onState('starting')
      const gpuIds = this.reserveGpus(workload)
      if (workload.kind === 'worker') this.options.callers.admit(workload.id, relayKeyHash(workload))
      return await this.options.network.within(accountOf(workload), (network) =>
        this.startWith({ ...workload, image }, { gpuIds, mounts, disk, network }, hooks),
      )
    } catch (error) {
      this.gpusInUse.delete(workload.id)
      this.options.callers.release(workload.id)
      if (disk !== undefined) await this.disks.drop(workload.id)
      throw error
    }
  }

  /** An engine that does not see the agent's views of volumes gets the volumes as they are (HOST-89). */
  private async startWith(workload: Workload, prepared: Prepared, hooks: StartHooks): Promise<Started> {
    try {
      return await this.starter.start(workload, prepared, hooks)
    } catch (error) {
      const { views, log } = this.options
      if (views.problem !== null || !isViewUnseen(errorText(error))) throw error
      const mounts = prepared.mounts.map((mount) => ({ ...mount, Source: views.plain(mount.Source) }))
      const started = await this.starter.start(workload, { ...prepared, mounts }, hooks)
      // Not before: those may have been a tenant's words, a path say, in an error about something else.
      views.giveUp()
      log.warn('volumes are given to containers without nosuid and nodev', { why: views.problem })
      return started
    }
  }

  /** The disk to go on with, or else the image that it starts from, by its id: a name may lead elsewhere a moment later. */
  private async provideRoot(workload: Workload, hooks: StartHooks): Promise<{ disk: KeptDisk | undefined; image: string }> {
    // One that somebody removed has no disk to go on with.
    if (hooks.diskOf != null && (await this.inspectOwn(hooks.diskOf)) !== undefined) {
      // Like a pull, this makes nothing that runs: a start that is interrupted here may begin anew.
      hooks.onState('pulling')
      return { disk: await this.disks.handOn(hooks.diskOf, workload.id), image: workload.image }
    }
    return { disk: undefined, image: await this.images.provide(workload, hooks) }
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
    const onAway = (error: string) => log.warn('Docker does not answer; will ask again', { workload: id, error })
    const exit = await watchContainer({ engine, name: containerName(id), inspect: () => this.inspectOwn(id), onAway })
    this.release(id)
    return exit
  }

  /** What an ended container has no use for; others may get it. */
  private release(id: string): void {
    this.gpusInUse.delete(id)
    this.options.ports.release(id)
    this.options.callers.release(id)
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
      if (!signal.aborted) await ignoring([404], Promise.reject(error))
    }
  }

  async usage(id: string): Promise<Usage | undefined> {
    const usage = await this.options.engine.usage(containerName(id))
    return usage === undefined ? undefined : { ...usage, gpuIds: this.gpusInUse.get(id) ?? [] }
  }

  async stop(id: string, graceMs: number): Promise<void> {
    if ((await this.inspectOwn(id)) === undefined) return
    await this.options.engine.stop(containerName(id), Math.ceil(graceMs / 1000))
  }

  async remove(id: string): Promise<void> {
    if ((await this.inspectOwn(id)) !== undefined) await this.options.engine.remove(containerName(id))
    await this.disks.drop(id)
    this.release(id)
  }

  async sweep(): Promise<void> {
    await this.disks.sweep()
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
      return facts === undefined || id === undefined ? [] : [this.adopt(id, facts)]
    })
  }

  private adopt(id: string, facts: ContainerFacts): RuntimeWorkload {
    const phase = facts.status === 'created' ? 'created' : isEnded(facts) ? 'ended' : 'running'
    const ports = readPorts(facts.labels[PORTS_LABEL])
    if (phase === 'running') {
      const gpus = (facts.labels[GPUS_LABEL] ?? '').split(',')
      this.gpusInUse.set(
        id,
        gpus.filter((gpu) => gpu !== ''),
      )
      this.options.ports.adopt(id, ports)
      const keyHash = facts.labels[RELAY_KEY_LABEL]
      // Pods have an empty one. A container that lacks it may be a worker, and the plane says its key again.
      if (keyHash !== '') this.options.callers.admit(id, keyHash)
    }
    return { id, phase, ports, startedAtMs: facts.startedAtMs }
  }

  close(): void {
    this.images.close()
  }
}

function readPorts(label: string | undefined): PublishedPort[] {
  try {
    return Ports.safeParse(JSON.parse(label ?? '[]')).data ?? []
  } catch {
    return []
  }
}
