import { existsSync, statfsSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import type { RuntimeName } from '../host-protocol/messages.ts'
import { OperatorError } from '../node/fail.ts'
import { readJsonFile, writeJsonFile } from '../node/json-file.ts'
import { type BridgeAddress, findBridgeAddress } from './docker/bridge.ts'
import type { ImagePolicy } from './docker/container/container-image.ts'
import { containerName } from './docker/container/container-spec.ts'
import { HostPorts } from './docker/ports/host-ports.ts'
import { DockerRuntime } from './docker/runtime.ts'
import { Sandboxes } from './docker/sandboxes.ts'
import type { DockerEngine } from './engine/engine.ts'
import { EngineClient } from './engine/engine-client.ts'
import { engineText } from './engine/engine-errors.ts'
import type { HostGpus } from './gpus/allocation.ts'
import type { Log } from './log.ts'
import type { Machine } from './machine/inventory.ts'
import { buildMountDrivers } from './mounts/build-drivers.ts'
import type { PersistentVolumes } from './mounts/persistent-volumes.ts'
import type { HeldVolumes } from './mounts/shared-volumes.ts'
import { loadAgentKey } from './network/agent-key.ts'
import { type ContainerNames, openContainerNames } from './network/dns/container-names.ts'
import { type HostNetwork, ownAddresses } from './network/host-network.ts'
import type { HostOverlays } from './network/overlay/host-overlays.ts'
import type { ReachChecks } from './network/overlay/reach/reach-checks.ts'
import type { PublishedPlace } from './network/published-address.ts'
import type { AgentOptions } from './options.ts'
import type { AccessTokens } from './plane/access-tokens.ts'
import type { EngineProbe } from './probe/engine-probe.ts'
import type { Confinement } from './process/confinement.ts'
import { ProcessRuntime } from './process/runtime.ts'
import { readKernelFacts } from './profile/kernel-facts.ts'
import { LEAST_SPEED } from './pulls/pull-pace.ts'
import { isLoopback, RelayCallers } from './relay/admission/callers.ts'
import { type Relay, startRelay } from './relay/relay.ts'
import type { Runtime } from './runtime.ts'
import { isSharedByTenants } from './workloads/tenancy.ts'

/** The parts of an agent that its runtimes are built from. */
export interface RuntimesContext {
  options: AgentOptions
  hostId: string
  tokens: AccessTokens
  machine: Machine
  gpus: HostGpus
  engine: DockerEngine | undefined
  /** Network of the containers of `engine`. */
  network: HostNetwork | undefined
  overlays: HostOverlays | undefined
  /** Checks that members of private networks reach one another. */
  checks: ReachChecks | undefined
  probe: EngineProbe | undefined
  /** Name of the container runtime in the engine; undefined: the engine's default. */
  engineRuntime: string | undefined
  confinement: Confinement
  held: HeldVolumes
  volumes: PersistentVolumes
  /** A worker has taken a job. */
  onTaken(workerId: string): void
  /** Command that runs this program again. */
  command: readonly [string, ...string[]]
  log: Log
}

/** Whether the operator has enabled built-in images. */
export function runsBuiltins({ runtimes }: AgentOptions): boolean {
  return runtimes === undefined || runtimes.has('process')
}

/** Docker's engine, or undefined when it does not answer. Throws an `OperatorError` when --runtime names docker and it does not answer. */
export async function detectDocker({
  options,
  command,
  log,
}: Pick<RuntimesContext, 'options' | 'command' | 'log'>): Promise<DockerEngine | undefined> {
  if (options.runtimes !== undefined && !options.runtimes.has('docker')) return undefined
  const client = new EngineClient({ command, log })
  try {
    await warnAboutRestarts(client.engine, log)
    return client.engine
  } catch (error) {
    client.close()
    if (options.runtimes?.has('docker')) {
      throw new OperatorError(
        `Docker does not respond (${engineText(error)}); start it, or run only built-in images with --runtime process`,
      )
    }
    log.info('Docker does not respond; only builtin/ images can run here', { error: engineText(error) })
    return undefined
  }
}

/** Without `live-restore`, a restart of the engine (an upgrade, for example) ends every pod of the machine (HOST-62). */
async function warnAboutRestarts(engine: DockerEngine, log: Log): Promise<void> {
  const { liveRestore } = await engine.info()
  if (!liveRestore) log.warn('containers end when the container engine is restarted; set "live-restore": true in its daemon.json')
}

/** Starts a relay and a runtime for each way that this host runs workloads. */
export async function buildRuntimes(context: RuntimesContext): Promise<{ runtimes: Runtime[]; relays: Relay[] }> {
  const runtimes: Runtime[] = []
  const relays: Relay[] = []
  const { options, engine, network } = context
  if (runsBuiltins(options)) {
    const callers = new RelayCallers('loopback')
    const relay = await startKnownRelay(context, 'process', '127.0.0.1', callers)
    relays.push(relay)
    const relayUrl = `http://127.0.0.1:${relay.port}`
    runtimes.push(
      new ProcessRuntime({
        dir: join(options.stateDir, 'processes'),
        command: context.command,
        relayUrl,
        callers,
        confinement: context.confinement,
      }),
    )
  }
  if (engine !== undefined && network !== undefined && context.probe !== undefined) {
    const bridge = await findBridgeAddress(engine)
    const callers = containerCallers(engine, bridge, context.log)
    const relay = await startKnownRelay(context, 'docker', bridge.listen, callers)
    relays.push(relay)
    const names = await openNames(context, network, bridge.listen)
    await network.start({ address: bridge.listen, port: relay.port }, names)
    const ports = new HostPorts({ range: options.portRange, isShared: () => isSharedByTenants(network.isolation) })
    const published = { publicIp: options.publicIp, httpIp: options.httpIp, ownAddresses: ownAddresses() }
    runtimes.push(
      new DockerRuntime({
        engine,
        network,
        gpus: context.gpus,
        callers,
        reachesContainers: !isLoopback(bridge.listen),
        ports,
        sandboxes: buildSandboxes(context, engine, names, { ports, ...published }),
        mounts: buildMountDrivers(options, context.volumes, context.held),
        probe: context.probe,
        images: await imagePolicyOf(options, engine, network),
        stateDir: options.stateDir,
        ...published,
        log: context.log,
        hostId: context.hostId,
        relayUrl: `http://${bridge.advertise}:${relay.port}`,
        ...readKernelFacts(),
        engineRuntime: context.engineRuntime,
        realVcpus: cpus().length,
        realMemoryMb: context.machine.memoryMb,
      }),
    )
  }
  return { runtimes, relays }
}

/**
 * Starts the name server for private networks; undefined where this host has none or the packet filter cannot redirect containers to it.
 */
async function openNames({ overlays, log }: RuntimesContext, network: HostNetwork, address: string): Promise<ContainerNames | undefined> {
  if (overlays === undefined || overlays.inventory.address === null || !network.leadsToNames) return undefined
  return await openContainerNames({ overlays, address, log })
}

function buildSandboxes(
  { options, hostId, overlays, checks, log }: RuntimesContext,
  engine: DockerEngine,
  names: ContainerNames | undefined,
  published: PublishedPlace & { ports: HostPorts },
): Sandboxes | undefined {
  if (overlays === undefined || checks === undefined) return undefined
  const key = loadAgentKey(options.stateDir)
  return new Sandboxes({ ...published, engine, hostId, key, stateDir: options.stateDir, overlays, names, checks, log })
}

/** Image settings from the operator's flags. */
async function imagePolicyOf(options: AgentOptions, engine: DockerEngine, network: HostNetwork): Promise<ImagePolicy> {
  const { allowedRegistries: allowed, localImages, pullBytesPerMinute: bytesPerMinute } = options
  const maxBytes = options.imageSpaceBytes ?? (await halfOfDisk(options, engine))
  const leastSpeed = { ...LEAST_SPEED, bytesPerMinute }
  return { allowed, localImages, maxBytes, leastSpeed, isShared: () => isSharedByTenants(network.isolation) }
}

/** Half of the file system that stores the engine's images, bytes. */
async function halfOfDisk({ stateDir }: AgentOptions, engine: DockerEngine): Promise<number> {
  const { dataRoot } = await engine.info()
  // The data root of an engine in a virtual machine is not visible here.
  const { blocks, bsize } = statfsSync(existsSync(dataRoot) ? dataRoot : stateDir)
  return Math.floor((blocks * bsize) / 2)
}

/**
 * Callers that the relay for containers accepts. An engine in a virtual machine hides the addresses of containers, so only their keys
 * identify them (HOST-75).
 */
function containerCallers(engine: DockerEngine, { listen }: BridgeAddress, log: Log): RelayCallers {
  if (!isLoopback(listen)) return new RelayCallers(async (id) => (await engine.inspect(containerName(id)))?.addresses ?? [])
  log.warn(
    'the container engine runs in a virtual machine, which hides the addresses of containers; the relay identifies workers by their keys',
  )
  return new RelayCallers('loopback')
}

/** Starts a relay on its previous port, because running workloads have that port in their environment. */
async function startKnownRelay(
  { options, tokens, log, onTaken }: RuntimesContext,
  runtime: RuntimeName,
  address: string,
  callers: RelayCallers,
): Promise<Relay> {
  const path = join(options.stateDir, `relay-${runtime}.json`)
  const known = z.object({ port: z.number().int() }).safeParse(readJsonFile(path)).data
  const spoolDir = join(options.stateDir, `results-${runtime}`)
  const channelTokens = options.workerTransport === 'channel' ? tokens : undefined
  const relay = await startRelay({
    planeUrl: options.planeUrl,
    tokens: channelTokens,
    address,
    port: known?.port,
    spoolDir,
    callers,
    log,
    onTaken,
  })
  writeJsonFile(path, { port: relay.port })
  log.info('relay listens', { runtime, address: relay.address, port: relay.port })
  return relay
}
