import type { Workload } from '../host-protocol/messages.ts'
import type { ContainerSpec } from './docker-engine.ts'
import { substituteRelayUrl } from './relay-url.ts'
import type { PublishedPort } from './runtime.ts'

export const HOST_LABEL = 'podplane.host'
export const WORKLOAD_LABEL = 'podplane.workload'
export const GPUS_LABEL = 'podplane.gpus'

const PIDS_MAX = 4_096
/** The engine refuses less. */
const MEMORY_MIN_BYTES = 6 * 2 ** 20

export interface SpecContext {
  hostId: string
  relayUrl: string
  /** Real capacity: simulated machines promise more than the engine accepts as a limit. */
  realVcpus: number
  realMemoryMb: number
  gpuIds: readonly string[]
}

export function containerName(workloadId: string): string {
  return `podplane-${workloadId}`
}

/** The container of a workload: never privileged, no host paths, no Docker socket, bounded in processes, memory and log size. */
export function buildContainerSpec(workload: Workload, context: SpecContext): ContainerSpec {
  const env = { ...workload.env, ...substituteRelayUrl(workload.platformEnv, context.relayUrl) }
  const ports = workload.ports.map(containerPort)
  return {
    Image: workload.image,
    ...(workload.entrypoint.length > 0 ? { Entrypoint: workload.entrypoint } : {}),
    ...(workload.cmd.length > 0 ? { Cmd: workload.cmd } : {}),
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    Labels: { [HOST_LABEL]: context.hostId, [WORKLOAD_LABEL]: workload.id, [GPUS_LABEL]: context.gpuIds.join(',') },
    ExposedPorts: Object.fromEntries(ports.map((port) => [port, {}])),
    HostConfig: {
      ...resourceLimits(workload.resources, context),
      PidsLimit: PIDS_MAX,
      SecurityOpt: ['no-new-privileges'],
      // Raw sockets would let one tenant answer for another's address on the shared bridge.
      CapDrop: ['NET_RAW', 'MKNOD'],
      RestartPolicy: { Name: 'no' },
      LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '2' } },
      PortBindings: Object.fromEntries(ports.map((port) => [port, [{ HostPort: '' }]])),
      ...(context.gpuIds.length > 0
        ? { DeviceRequests: [{ Driver: 'nvidia', DeviceIDs: [...context.gpuIds], Capabilities: [['gpu']] }] }
        : {}),
    },
  }
}

function resourceLimits(resources: Workload['resources'], { realVcpus, realMemoryMb }: SpecContext) {
  const memoryBytes = Math.max(MEMORY_MIN_BYTES, Math.min(resources.memoryMb, realMemoryMb) * 2 ** 20)
  return {
    // Without swap on top, so that the limit is the limit.
    ...(resources.memoryMb > 0 ? { Memory: memoryBytes, MemorySwap: memoryBytes } : {}),
    ...(resources.vcpus > 0 ? { NanoCpus: Math.round(Math.min(resources.vcpus, realVcpus) * 1e9) } : {}),
  }
}

/** `8080/http` is a TCP port to the engine. */
function containerPort(port: string): string {
  return port.replace(/\/.*$/, port.endsWith('/udp') ? '/udp' : '/tcp')
}

/** The ports as reported to the plane, in the workload's own words for their types. */
export function publishedPorts(ports: readonly string[], hostPorts: Record<string, number>): PublishedPort[] {
  return ports.flatMap((port) => {
    const published = hostPorts[containerPort(port)]
    return published === undefined ? [] : [{ private: Number.parseInt(port, 10), public: published, type: port.split('/')[1] ?? 'tcp' }]
  })
}
