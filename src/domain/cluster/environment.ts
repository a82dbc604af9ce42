import { CLUSTER_INTERFACE } from '../../host-protocol/overlays.ts'
import type { PodGpu, PodSpec } from '../pod/record.ts'

/** The facts of its cluster that a member gets. Pure. */

/** The port where the members of a job meet (ENV-3), and the port where those of a RAY cluster do (ENV-12). */
export const PRIMARY_PORT = 29_500
export const RAY_PORT = 6_379

/** A member's position in its cluster: the addresses of the others follow from it. */
export interface Place {
  rank: number
  address: string
  podCount: number
}

/** A member's position, from its row; null for a pod that is not a member. */
export function placeOfMember(pod: { clusterRank: number | null; clusterIp: string | null; spec: Pick<PodSpec, 'cluster'> }): Place | null {
  const { clusterRank: rank, clusterIp: address, spec } = pod
  return rank === null || address === null || !spec.cluster ? null : { rank, address, podCount: spec.cluster.podCount }
}

/** The host name under which members find each other (CLU-20). */
export function nodeName(rank: number): string {
  return `node-${rank}`
}

/** The address of another member: addresses are consecutive in the order of ranks (CLU-20). */
export function addressOfRank({ rank, address }: Pick<Place, 'rank' | 'address'>, other: number): string {
  const bytes = address.split('.').map(Number)
  const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0) + other - rank
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')
}

/** Variables with facts of the cluster; a user's `env` does not override them (ENV-3, ENV-10). */
export function clusterEnv(place: Place, { spec }: { spec: Pick<PodSpec, 'cluster' | 'compute'> }): Record<string, string> {
  const primary = addressOfRank(place, 0)
  const trainers = gpuCount(spec.compute)
  return {
    PRIMARY_ADDR: primary,
    MASTER_ADDR: primary,
    PRIMARY_PORT: String(PRIMARY_PORT),
    MASTER_PORT: String(PRIMARY_PORT),
    NODE_ADDR: place.address,
    NODE_RANK: String(place.rank),
    NUM_NODES: String(place.podCount),
    NUM_TRAINERS: String(trainers),
    HOST_NODE_ADDR: `${primary}:${PRIMARY_PORT}`,
    WORLD_SIZE: String(place.podCount * trainers),
    ...(spec.cluster?.type === 'RAY' && { RAY_HEAD_ADDR: primary, RAY_ADDRESS: `${primary}:${RAY_PORT}` }),
  }
}

/** Variables that libraries read to find the private network; a member's own `env` overrides them (ENV-11). */
export const CLUSTER_DEFAULT_ENV: Readonly<Record<string, string>> = {
  NCCL_SOCKET_IFNAME: CLUSTER_INTERFACE,
  GLOO_SOCKET_IFNAME: CLUSTER_INTERFACE,
}

function gpuCount(compute: PodSpec['compute']): number {
  return compute.kind === 'gpu' ? (compute satisfies PodGpu).count : 0
}
