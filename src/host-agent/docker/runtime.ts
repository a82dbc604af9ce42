import { BUILTIN_PREFIX } from '../../host-protocol/builtin-images.ts'
import type { Workload } from '../../host-protocol/messages.ts'
import { backoffMs, sleep } from '../../node/backoff.ts'
import type { ContainerFacts, ListedContainer, RetainedDisk } from '../engine/engine.ts'
import { engineText, ignoring } from '../engine/engine-errors.ts'
import { GPUS_LABEL, HOST_LABEL, PORTS_LABEL, RELAY_KEY_LABEL, WORKLOAD_LABEL } from '../engine/labels.ts'
import { chooseGpus, type HostGpus } from '../gpus/allocation.ts'
import { readCpuWaitNanos } from '../machine/cpu-waiting.ts'
import { type MountDrivers, provideMounts } from '../mounts/mount-driver.ts'
import type { HostNetwork } from '../network/host-network.ts'
import type { EngineAbilities, EngineProbe } from '../probe/engine-probe.ts'
import { type RelayCallers, relayKeyHash } from '../relay/admission/callers.ts'
import {
  type ExecRequest,
  type ExecSession,
  type OutputChunk,
  type Place,
  type Runtime,
  type RuntimeWorkload,
  StartError,
  type Started,
  type StartHooks,
  type Usage,
  type WorkloadExit,
} from '../runtime.ts'
import { ContainerDisks } from './container/container-disk.ts'
import { ContainerImages, type ContainerImagesDeps } from './container/container-image.ts'
import type { Sandbox } from './container/container-spec.ts'
import { accountOf, containerName, payerByLabels } from './container/container-spec.ts'
import { ContainerStarter, type ContainerStarterDeps } from './container/container-start.ts'
import { isEnded, watchContainer } from './container/container-watch.ts'
import { readPorts } from './ports/ports-label.ts'
import type { Sandboxes } from './sandboxes.ts'
import { ContainerExecs } from './streams/exec.ts'
import { DockerOutput, type Doubt } from './streams/output.ts'

const RETRY_MAX_MS = 10_000
const OUTPUT_RETRY_BASE_MS = 20

const UNSEEN = 'the container engine does not say how this container is'

export interface DockerRuntimeOptions extends ContainerStarterDeps, Pick<ContainerImagesDeps, 'images' | 'stateDir'> {
  gpus: HostGpus
  mounts: MountDrivers
  probe: Pick<EngineProbe, 'find'>
  network: Pick<HostNetwork, 'within'>
  /**
   * Containers have addresses that this machine reaches; otherwise it reaches only their published ports (an engine in a virtual machine).
   */
  reachesContainers: boolean
  callers: RelayCallers
  /** Private networks across hosts; undefined: this host supports none. */
  sandboxes?: Sandboxes | undefined
}

/** Runs workloads as containers of the machine's Docker engine; affects only containers with this host's label. */
export class DockerRuntime implements Runtime {
  readonly name = 'docker'
  readonly keepsDisk = true
  private readonly options: DockerRuntimeOptions
  private readonly images: ContainerImages
  private readonly disks: ContainerDisks
  private readonly starter: ContainerStarter
  private readonly execs: ContainerExecs
  private readonly addresses = new Map<string, string>()
  private readonly pids = new Map<string, number>()
  private readonly gpusInUse = new Map<string, readonly string[]>()

  constructor(options: DockerRuntimeOptions) {
    this.options = options
    this.images = new ContainerImages(options)
    this.disks = new ContainerDisks(options.engine, options.hostId)
    this.starter = new ContainerStarter(options)
    this.execs = new ContainerExecs(options.engine)
  }

  canRun(image: string): boolean {
    return !image.startsWith(BUILTIN_PREFIX)
  }

  async start(workload: Workload, hooks: StartHooks): Promise<Started> {
    if ((workload.overlays ?? []).length === 0) return await this.startPrepared(workload, hooks, undefined)
    const sandbox = await this.openSandbox(workload, hooks)
    try {
      return await this.startPrepared(workload, hooks, sandbox)
    } catch (error) {
      await this.options.sandboxes?.close(workload.id)
      this.options.ports.release(workload.id)
      throw error
    }
  }

  /** Opens the sandbox before the image is fetched, so that other members reach it early. */
  private async openSandbox(workload: Workload, hooks: StartHooks): Promise<Sandbox> {
    const { sandboxes, network } = this.options
    if (sandboxes === undefined) throw new StartError('this host does not provide private networks across hosts')
    return await network.within(accountOf(workload), (name) => sandboxes.open(workload, name, hooks))
  }

  private async startPrepared(first: Workload, hooks: StartHooks, sandbox: Sandbox | undefined): Promise<Started> {
    const { disk, image } = await this.provideRoot(first, hooks)
    try {
      // First, because the mounts of volumes depend on its result.
      const abilities = await this.findAbilities()
      if (sandbox !== undefined) this.options.sandboxes?.noteReady(first.id)
      const workload = await (hooks.wanted?.() ?? first)
      const mounts = await provideMounts(workload.mounts ?? [], this.options.mounts)
      hooks.signal.throwIfAborted()
      hooks.onState('starting')
      const gpuIds = this.reserveGpus(workload)
      if (workload.kind === 'worker') this.options.callers.admit(workload.id, relayKeyHash(workload))
      return await this.options.network.within(accountOf(workload), (network) =>
        this.starter.start({ ...workload, image }, { gpuIds, mounts, disk, network, sandbox, abilities }, hooks),
      )
    } catch (error) {
      this.gpusInUse.delete(first.id)
      this.options.callers.release(first.id)
      if (disk !== undefined) await this.disks.drop(first.id)
      throw error
    }
  }

  private async findAbilities(): Promise<EngineAbilities> {
    try {
      return await this.options.probe.find()
    } catch {
      throw new StartError('this host could not determine the features of its container engine; it retries with the next start')
    }
  }

  /** The retained disk to continue from, or else the id of the image: a name may point to another image a moment later. */
  private async provideRoot(workload: Workload, hooks: StartHooks): Promise<{ disk: RetainedDisk | undefined; image: string }> {
    // A container that was removed from outside leaves no disk.
    if (hooks.diskOf != null && (await this.inspectOwn(hooks.diskOf)) !== undefined) {
      // Like a pull, this starts nothing: an interrupted start may begin again from here.
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
    const onAway = (error: string) => log.warn('Docker does not respond; the agent retries', { workload: id, error })
    const name = containerName(id)
    const exit = await watchContainer({ engine, name, inspect: () => this.inspectOwn(id), list: () => this.findOwn(id), onAway })
    this.release(id)
    await this.options.sandboxes?.close(id)
    return exit
  }

  /** Frees the resources of an ended container for other workloads. */
  private release(id: string): void {
    this.execs.discard(containerName(id))
    this.addresses.delete(id)
    this.pids.delete(id)
    this.gpusInUse.delete(id)
    this.options.ports.release(id)
    this.options.callers.release(id)
  }

  async followOutput(id: string, position: unknown, take: (chunk: OutputChunk) => void, signal: AbortSignal): Promise<void> {
    const from = { position }
    let fruitless = 0
    const takeAndRemember = (chunk: OutputChunk) => {
      fruitless = 0
      from.position = chunk.position
      take(chunk)
    }
    let ended = false
    let doubt: Doubt | undefined
    for (; !signal.aborted; fruitless += 1) {
      const examined = doubt
      doubt = await this.readOutput(new DockerOutput(from.position, examined), id, takeAndRemember, signal).catch((error: unknown) => {
        // Only this call knows the line in doubt, so it asks again itself.
        if (examined === undefined) throw error
        return examined
      })
      // The answer may end before the output does, for example when the engine restarts. Only an answer that began after the end is
      // complete, if it was read to its end.
      if (ended && doubt === undefined) return
      const facts = await this.inspectOwn(id)
      if (facts === undefined) return
      ended = isEnded(facts)
      // The engine ends the answer a moment before it reports the end of the container, and a removal waits for this.
      if (!ended || doubt !== undefined) await sleep(backoffMs(fruitless, OUTPUT_RETRY_BASE_MS, RETRY_MAX_MS), signal)
    }
  }

  private async readOutput(
    output: DockerOutput,
    id: string,
    take: (chunk: OutputChunk) => void,
    signal: AbortSignal,
  ): Promise<Doubt | undefined> {
    try {
      for await (const data of await this.options.engine.followLogs(containerName(id), output.sinceSeconds, signal)) {
        const chunk = output.read(data)
        if (chunk !== undefined) take(chunk)
        if (output.doubt !== undefined) break
      }
    } catch (error) {
      if (!signal.aborted) await ignoring([404], Promise.reject(error))
    }
    return output.doubt
  }

  async usage(id: string): Promise<Usage | undefined> {
    const usage = await this.options.engine.usage(containerName(id))
    if (usage === undefined) return undefined
    const { throttledNanos, ...used } = usage
    // The process id in a virtual machine would mean another process here.
    const pid = this.options.reachesContainers ? await this.pidOf(id) : null
    const waited = pid === null ? undefined : readCpuWaitNanos(pid)
    const cpuWaitNanos = waited === undefined && throttledNanos === undefined ? undefined : (waited ?? 0) + (throttledNanos ?? 0)
    return { ...used, cpuWaitNanos, gpuIds: this.gpusInUse.get(id) ?? [] }
  }

  /** Process id of a container's main process on this machine; null: it has ended. A running container keeps it, and no id runs twice. */
  private async pidOf(id: string): Promise<number | null> {
    const known = this.pids.get(id)
    if (known !== undefined) return known
    const pid = (await this.inspectOwn(id))?.pid ?? null
    if (pid !== null) this.pids.set(id, pid)
    return pid
  }

  async place(id: string, port: number): Promise<Place | undefined> {
    const known = this.addresses.get(id)
    if (known !== undefined) return { host: known, port }
    const facts = await this.inspectOwn(id)
    if (facts === undefined || isEnded(facts)) return undefined
    if (!this.options.reachesContainers) {
      const published = readPorts(facts.labels[PORTS_LABEL]).find((one) => one.private === port)
      return published && { host: this.options.httpIp, port: published.public }
    }
    const [host] = facts.addresses.length > 0 ? facts.addresses : ((await this.options.sandboxes?.addressesOf(id)) ?? [])
    // A running container keeps its address, and no id runs twice.
    if (host !== undefined) this.addresses.set(id, host)
    return host === undefined ? undefined : { host, port }
  }

  async exec(id: string, request: ExecRequest): Promise<ExecSession> {
    return await this.execs.start(containerName(id), request)
  }

  async stop(id: string, graceMs: number): Promise<void> {
    if ((await this.findOwn(id)) === undefined) return
    await this.options.engine.stop(containerName(id), Math.ceil(graceMs / 1000))
  }

  async remove(id: string): Promise<void> {
    if ((await this.findOwn(id)) !== undefined) await this.options.engine.remove(containerName(id))
    await this.disks.drop(id)
    this.release(id)
    await this.options.sandboxes?.close(id)
  }

  async sweep(): Promise<void> {
    await this.disks.sweep()
    const running = (await this.list()).filter(({ phase }) => phase === 'running').map(({ id }) => id)
    await this.options.sandboxes?.sweep(new Set(running))
  }

  private async inspectOwn(id: string): Promise<ContainerFacts | undefined> {
    const facts = await this.options.engine.inspect(containerName(id))
    return facts?.labels[HOST_LABEL] === this.options.hostId ? facts : undefined
  }

  /**
   * Finds a container in the list, without inspecting it, so that a container that cannot be inspected can be stopped and removed
   * (HOST-109).
   */
  private async findOwn(id: string): Promise<ListedContainer | undefined> {
    const own = await this.options.engine.list(`${HOST_LABEL}=${this.options.hostId}`, `${WORKLOAD_LABEL}=${id}`)
    return own.find(({ name }) => name === containerName(id))
  }

  async list(): Promise<RuntimeWorkload[]> {
    const listed = await this.options.engine.list(`${HOST_LABEL}=${this.options.hostId}`)
    const found = await Promise.all(listed.map((container) => this.inspectListed(container)))
    return found.flatMap((workload) => workload ?? [])
  }

  /** A container that cannot be inspected is reported as the engine's list states it (HOST-109). */
  private async inspectListed(listed: ListedContainer): Promise<RuntimeWorkload | undefined> {
    const { engine, log } = this.options
    const id = listed.labels[WORKLOAD_LABEL]
    if (id === undefined) return undefined
    try {
      const facts = await engine.inspect(listed.name)
      return facts === undefined ? undefined : this.adopt(id, facts)
    } catch (error) {
      log.error('a container cannot be inspected; the others are not affected', { workload: id, error: engineText(error) })
      return { ...this.adopt(id, { ...listed, startedAtMs: null }), problem: UNSEEN }
    }
  }

  private adopt(id: string, facts: Pick<ContainerFacts, 'labels' | 'startedAtMs' | 'status'>): RuntimeWorkload {
    const phase = facts.status === 'created' ? 'created' : isEnded(facts) ? 'ended' : 'running'
    const ports = readPorts(facts.labels[PORTS_LABEL])
    if (phase === 'running') {
      const gpus = (facts.labels[GPUS_LABEL] ?? '').split(',')
      this.gpusInUse.set(
        id,
        gpus.filter((gpu) => gpu !== ''),
      )
      this.options.ports.adopt(id, payerByLabels(facts.labels) ?? id, ports)
      const keyHash = facts.labels[RELAY_KEY_LABEL]
      // The label of pods is empty. A container without the label may be a worker, and the plane sends its key again.
      if (keyHash !== '') this.options.callers.admit(id, keyHash)
    }
    return { id, phase, ports, startedAtMs: facts.startedAtMs }
  }

  close(): void {
    this.images.close()
    this.options.sandboxes?.end()
  }
}
