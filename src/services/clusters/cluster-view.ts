import type { Cluster } from '../../contract/clusters/clusters.ts'
import { formatTime } from '../../contract/timestamps.ts'
import type { ClusterRow, ClusterView } from '../../db/clusters/clusters.ts'
import type { PodRow } from '../../db/pods/pods.ts'
import { overlayOf } from '../../domain/overlay/addresses.ts'
import { sshOf } from '../../domain/pod/access.ts'
import { VXLAN_PORT } from '../../host-protocol/overlays.ts'

/** Returns a cluster in the format of REST (CLU-3, CLU-4). Unknown fields are left out. */
export function toCluster({ row, statuses, primary, slot }: ClusterView): Cluster {
  const network = slot !== null && isProvisioned(primary) ? overlayOf('cluster', slot) : null
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    compute: { gpuTypeId: row.gpuTypeId, gpuCountPerPod: row.gpuCountPerPod, podCount: row.podCount },
    pods: {
      total: statuses.reduce((sum, { count }) => sum + count, 0),
      byStatus: Object.fromEntries(statuses.map(({ status, count }) => [status, count])),
    },
    ...(row.templateId !== null && { template: row.templateId }),
    dataCenterId: row.dataCenterId,
    ...(network && { network: { cidr: network.cidr, vxlanId: network.vni, vxlanPort: VXLAN_PORT } }),
    ...(primary && { primary: primaryView(primary) }),
    onHostLoss: row.onHostLoss,
    createdAt: formatTime(row.createdAtMs),
  }
}

/** Returns the view of a cluster that was just recorded. */
export function newCluster(row: ClusterRow, members: readonly PodRow[]): Cluster {
  const [primary = null] = members
  return toCluster({ row, statuses: [{ status: 'PROVISIONING', count: members.length }], primary, slot: null })
}

// Whether the members have reached one another once.
function isProvisioned(primary: PodRow | null): boolean {
  return (primary?.readyGeneration ?? 0) > 0
}

function primaryView(pod: PodRow): NonNullable<Cluster['primary']> {
  const { direct } = sshOf(pod, null)
  const isUp = pod.status === 'RUNNING' && direct !== null
  return { podId: pod.id, status: pod.status, ...(isUp && { sshEndpoint: `${direct.host}:${direct.port}` }) }
}
