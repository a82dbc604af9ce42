import { PUBLIC_IP_PLACEHOLDER, type Workload } from '../../../host-protocol/messages.ts'
import type { ContainerSpec, EngineMount, RetainedDisk } from '../../engine/engine.ts'
import { ACCOUNT_LABEL, GPUS_LABEL, HOST_LABEL, PAYER_LABEL, PORTS_LABEL, RELAY_KEY_LABEL, WORKLOAD_LABEL } from '../../engine/labels.ts'
import { gpuContainerConfig } from '../../gpus/vendors.ts'
import { bindAddresses, type PublishedPlace } from '../../network/published-address.ts'
import { containerProfile, type ProfileFacts } from '../../profile/container-profile.ts'
import { relayKeyHash } from '../../relay/admission/callers.ts'
import { substituteRelayUrl } from '../../relay/url.ts'
import type { PublishedPort } from '../../runtime.ts'
import type { AssignedPort } from '../ports/port-choice.ts'

/** A container that owns the network of a workload. */
export interface Sandbox {
  name: string
  ports: AssignedPort[]
}

/** The engine refuses a lower limit. */
const MEMORY_MIN_BYTES = 6 * 2 ** 20

/** Settings of the host for every container. */
export interface HostContext extends PublishedPlace, Omit<ProfileFacts, 'raisesLimits'> {
  hostId: string
  relayUrl: string
  /** Real capacity, as `realVcpus`: simulated capacity exceeds the limits that the engine accepts. */
  realMemoryMb: number
}

/** Settings of one container. */
export interface SpecContext extends HostContext {
  gpuIds: readonly string[]
  ports: readonly AssignedPort[]
  mounts: readonly EngineMount[]
  /** Network of the account. */
  network: string
  /** The container whose network it shares instead, and whose ports are published; undefined: none. */
  sandbox: string | undefined
  /** Retained disk to continue from instead of the image. */
  disk: RetainedDisk | undefined
  raisesLimits: boolean
  /** Whether the engine can limit the writable layer. */
  limitDisk: boolean
}

/** Name of a workload's container in the engine. */
export function containerName(workloadId: string): string {
  return `podplane-${workloadId}`
}

/** The account of a workload; its own id where the plane does not state the account, so that each counts as a separate account. */
export function accountOf({ id, account }: Pick<Workload, 'id' | 'account'>): string {
  return account ?? id
}

/** The account whose share of this host a workload uses (SHR-40). */
export function payerOf({ payer, ...workload }: Pick<Workload, 'id' | 'account' | 'payer'>): string {
  return payer ?? accountOf(workload)
}

/** The payer of a container by its labels; containers of an earlier release have the account label only. */
export function payerByLabels(labels: Readonly<Record<string, string>>): string | undefined {
  return labels[PAYER_LABEL] ?? labels[ACCOUNT_LABEL]
}

/**
 * The container of a workload: never privileged, no host paths except its mounts, no Docker socket, with limits on processes, memory and
 * log size.
 */
export function buildContainerSpec(workload: Workload, context: SpecContext): ContainerSpec {
  const { ports, disk } = context
  const gpus = gpuContainerConfig(context.gpuIds)
  const env = buildEnv(workload, context, gpus.env)
  const mounted = new Set(context.mounts.map(({ Target }) => Target))
  const mounts = [...(disk?.mounts ?? []).filter(({ Target }) => !mounted.has(Target)), ...context.mounts]
  return {
    ...disk?.config,
    Image: disk?.image ?? workload.image,
    ...(workload.entrypoint.length > 0 ? { Entrypoint: workload.entrypoint } : {}),
    ...(workload.cmd.length > 0 ? { Cmd: workload.cmd } : {}),
    Env: [...previousEnv(env, disk), ...[...env].map(([name, value]) => `${name}=${value}`)],
    // The engine would run the image's own health check beside the container and its limits (HOST-108).
    Healthcheck: { Test: ['NONE'] },
    Labels: {
      [HOST_LABEL]: context.hostId,
      [WORKLOAD_LABEL]: workload.id,
      [GPUS_LABEL]: context.gpuIds.join(','),
      [PORTS_LABEL]: JSON.stringify(publishedPorts(ports)),
      [ACCOUNT_LABEL]: accountOf(workload),
      ...(workload.payer !== undefined && { [PAYER_LABEL]: workload.payer }),
      [RELAY_KEY_LABEL]: relayKeyHash(workload) ?? '',
    },
    ...(context.sandbox === undefined ? { ExposedPorts: exposedPorts(ports) } : {}),
    HostConfig: {
      ...resourceLimits(workload.resources, context),
      ...containerProfile(workload.resources, context),
      RestartPolicy: { Name: 'no' },
      LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '2' } },
      ...(context.sandbox === undefined
        ? { NetworkMode: context.network, PortBindings: portBindings(context) }
        : { NetworkMode: `container:${context.sandbox}` }),
      ...(mounts.length > 0 ? { Mounts: mounts } : {}),
      ...gpus.hostConfig,
    },
  }
}

/**
 * The environment: a user's variable overrides an injected one of the same name, except names that begin with RUNPOD_ (ENV-4) and those
 * that select GPUs (HOST-65).
 */
function buildEnv(
  workload: Workload,
  { relayUrl, publicIp, ports }: SpecContext,
  gpuEnv: Readonly<Record<string, string>>,
): Map<string, string> {
  const env = new Map(Object.entries(workload.env))
  const portVariables = ports
    .filter(({ type }) => type === 'tcp')
    .map((port) => [`RUNPOD_TCP_PORT_${port.requested}`, String(port.public)] as const)
  const injected = Object.entries(substituteRelayUrl(workload.platformEnv, relayUrl))
  for (const [name, value] of [...injected, ...portVariables]) {
    if (name.startsWith('RUNPOD_') || !env.has(name)) env.set(name, value.replaceAll(PUBLIC_IP_PLACEHOLDER, publicIp ?? ''))
  }
  for (const [name, value] of Object.entries(gpuEnv)) env.set(name, value)
  return env
}

/** Variables of the original image, where the retained disk has lost them. */
function previousEnv(env: ReadonlyMap<string, string>, disk: RetainedDisk | undefined): string[] {
  return (disk?.config.Env ?? []).filter((line) => !env.has(line.split('=')[0] ?? ''))
}

/** Exposed ports of a container, as the engine's API expects them. */
export function exposedPorts(ports: readonly AssignedPort[]): Record<string, Record<string, never>> {
  return Object.fromEntries(ports.map((port) => [`${port.private}/tcp`, {}]))
}

/** Bindings of published ports, as the engine's API expects them. One container port may be requested with both types. */
export function portBindings({
  ports,
  ...place
}: PublishedPlace & Pick<SpecContext, 'ports'>): Record<string, { HostIp: string; HostPort: string }[]> {
  const byPort = Map.groupBy(ports, (port) => port.private)
  const bindings = [...byPort].map(([inside, same]) => {
    const types = same.map(({ type }) => type)
    const bound = bindAddresses(types, place).map((HostIp) => ({ HostIp, HostPort: String(same[0]?.public) }))
    return [`${inside}/tcp`, bound] as const
  })
  return Object.fromEntries(bindings)
}

function resourceLimits(resources: Workload['resources'], { realVcpus, realMemoryMb, limitDisk }: SpecContext) {
  const memoryBytes = Math.max(MEMORY_MIN_BYTES, Math.min(resources.memoryMb, realMemoryMb) * 2 ** 20)
  return {
    // No swap in addition, so that this is the whole limit.
    ...(resources.memoryMb > 0 ? { Memory: memoryBytes, MemorySwap: memoryBytes } : {}),
    ...(resources.vcpus > 0 ? { NanoCpus: Math.round(Math.min(resources.vcpus, realVcpus) * 1e9) } : {}),
    ...(limitDisk && resources.diskGb > 0 ? { StorageOpt: { size: `${resources.diskGb}G` } } : {}),
  }
}

/** The ports as reported to the plane, with the types that the workload requested. */
export function publishedPorts(ports: readonly AssignedPort[]): PublishedPort[] {
  return ports.map(({ private: inside, public: outside, type }) => ({ private: inside, public: outside, type }))
}
