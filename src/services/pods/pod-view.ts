import type { PodRuntime } from '../../contract/pods/pod-parts.ts'
import type { Pod } from '../../contract/pods/pods.ts'
import { formatTime, timeOrNull } from '../../contract/timestamps.ts'
import type { PodRow } from '../../db/pods/pods.ts'
import { roleOf } from '../../domain/cluster/roles.ts'
import { internalName } from '../../domain/overlay/networks-on-host.ts'
import { costOf, portsView, sshOf } from '../../domain/pod/access.ts'
import { idleStopDueMs } from '../../domain/pod/idle-stop.ts'
import { actionsOf } from '../../domain/pod/pod.ts'
import { envOf } from '../../domain/pod/request/container.ts'
import { mountsView } from '../../domain/pod/request/mounts.ts'
import { decodeArgs } from '../../domain/resources/container.ts'
import type { Settings } from '../../env.ts'
import type { LivePod } from './live-pods.ts'

const MB_PER_GB = 1024

/** Returns a pod in the format of REST (POD-2, POD-19, POD-21, POD-23). `live`: its present state as reported by its host, if known. */
export function toPod(pod: PodRow, settings: Pick<Settings, 'sshProxy' | 'internalDomain'>, nowMs: number, live?: LivePod): Pod {
  const { container, mounts, cloud, onHostLoss } = pod.spec
  const silentSinceMs = live?.silentSinceMs ?? null
  return {
    id: pod.id,
    name: pod.name,
    image: container.image,
    args: container.args,
    ...decodeArgs(container.args),
    disk: container.diskGb,
    ports: container.ports,
    env: envOf(pod.spec),
    registry: container.registry,
    status: pod.status,
    statusReason: silentSinceMs === null ? pod.statusReason : describeSilence(silentSinceMs),
    // POD-16: members have no actions of their own.
    actions: pod.clusterId === null ? actionsOf(pod) : [],
    mounts: mountsView(mounts),
    ...computeView(pod),
    cloud,
    dataCenterId: pod.dataCenterId,
    cudaVersion: pod.cudaVersion,
    ssh: sshOf(pod, settings.sshProxy),
    ...(pod.clusterId !== null && { cluster: membershipView(pod, pod.clusterId) }),
    template: pod.templateId,
    cost: silentSinceMs === null ? costOf(pod) : 0,
    locked: pod.locked,
    globalNetworking: globalView(pod, settings.internalDomain),
    onHostLoss,
    runtime: pod.status === 'RUNNING' && silentSinceMs === null ? runtimeView(pod, nowMs, live) : null,
    createdAt: formatTime(pod.createdAtMs),
    // The start of a pod on a lost host stays stored for the host's return, but is not shown.
    startedAt: pod.startedAtMs === null || pod.hostLost ? null : formatTime(pod.startedAtMs),
    stopAfter: timeOrNull(pod.stopAfterMs),
    terminateAfter: timeOrNull(pod.terminateAfterMs),
    idleStop: pod.spec.idleStop ? { afterSeconds: pod.spec.idleStop.afterSeconds } : null,
    labels: pod.labels,
  }
}

/** CLU-9. */
function membershipView({ clusterRank: rank, clusterIp, spec: { cluster } }: PodRow, id: string): NonNullable<Pod['cluster']> {
  const role = cluster && rank !== null ? roleOf(cluster.type, rank) : null
  return { id, rank, ...(role && { role }), ...(clusterIp !== null && { ip: clusterIp }) }
}

/** NET-3, NET-48. */
function globalView({ id, globalIp }: PodRow, internalDomain: string): Pod['globalNetworking'] {
  return globalIp === null ? { enabled: false } : { enabled: true, ip: globalIp, internalDns: internalName(id, internalDomain) }
}

/** Returns the granted resources as totals of the whole pod (POD-7, POD-8). */
export function computeView({ spec: { compute }, vcpus, memoryMb }: Pick<PodRow, 'spec' | 'vcpus' | 'memoryMb'>): Pick<Pod, 'gpu' | 'cpu'> {
  if (compute.kind === 'cpu') return { cpu: { id: compute.flavorId, vcpuCount: compute.vcpuCount, memory: compute.memoryGb } }
  return { gpu: { id: compute.typeId, count: compute.count, vcpuCount: vcpus, memory: Math.max(1, Math.floor(memoryMb / MB_PER_GB)) } }
}

function describeSilence(sinceMs: number): string {
  return `its host has been silent since ${formatTime(sinceMs)}; nothing is charged until it reconnects`
}

function runtimeView(pod: PodRow, nowMs: number, live: LivePod | undefined): PodRuntime {
  const stats = live?.stats
  const idleSinceMs = live?.idleSinceMs ?? null
  return {
    uptime: Math.max(0, Math.floor((nowMs - (pod.startedAtMs ?? nowMs)) / 1000)),
    ...(stats?.gpus && { gpus: stats.gpus.map(({ util, memoryUtil }) => ({ util, memoryUtil })) }),
    ...(stats?.cpu !== undefined && { cpu: { util: stats.cpu } }),
    ...(stats?.memory !== undefined && { memory: { util: stats.memory } }),
    ...(stats && { idleSince: timeOrNull(idleSinceMs) }),
    ...(stats && pod.spec.idleStop && { idleStopAt: timeOrNull(idleStopDueMs(pod, idleSinceMs)) }),
    ports: portsView(pod),
  }
}
