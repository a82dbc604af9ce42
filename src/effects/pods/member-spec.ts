import { openDatabase } from '../../db/client.ts'
import { findClusterById } from '../../db/clusters/clusters.ts'
import type { PodRow } from '../../db/pods/pods.ts'
import { CLUSTER_DEFAULT_ENV, clusterEnv, placeOfMember } from '../../domain/cluster/environment.ts'
import { clusterFiles } from '../../domain/cluster/files.ts'
import type { Env } from '../../env.ts'
import type { Workload } from '../../host-protocol/messages.ts'
import { CLUSTER_INTERFACE } from '../../host-protocol/overlays.ts'
import { type Place, vaultOf } from '../../platform/seal.ts'

/** What a workload has more because its pod is a member of a cluster. */
export interface MemberParts {
  /** Under what the user's own `env` says. */
  defaultEnv: Readonly<Record<string, string>>
  platformEnv: Record<string, string>
  workload: Pick<Workload, 'overlays' | 'files'>
}

const NOTHING: MemberParts = { defaultEnv: {}, platformEnv: {}, workload: {} }

export async function memberParts(env: Env, pod: PodRow): Promise<MemberParts> {
  const place = placeOfMember(pod)
  if (place === null || pod.clusterId === null) return NOTHING
  const mungeKey = pod.spec.cluster?.type === 'SLURM' ? await readMungeKey(env, pod.clusterId) : null
  const files = clusterFiles({ place, spec: pod.spec, vcpus: pod.vcpus, memoryMb: pod.memoryMb, mungeKey })
  return {
    defaultEnv: CLUSTER_DEFAULT_ENV,
    platformEnv: clusterEnv(place, pod),
    workload: {
      overlays: [{ id: pod.clusterId, address: place.address, interface: CLUSTER_INTERFACE }],
      ...(files.length > 0 && { files }),
    },
  }
}

/** The key that the members of a SLURM cluster know each other by, as the cluster's row keeps it. */
export function sealMungeKey(env: Env, clusterId: string, key: string): string {
  return vaultOf(env).seal(placeOfKey(clusterId), key)
}

async function readMungeKey(env: Env, clusterId: string): Promise<string | null> {
  const row = await findClusterById(openDatabase(env.DB), clusterId)
  if (!row?.sealedSecret) return null
  const key = vaultOf(env).open(placeOfKey(clusterId), row.sealedSecret)
  if (key === null) throw new Error(`the key of cluster ${clusterId} was sealed under a TOKEN_SECRET that this plane does not have`)
  return key
}

function placeOfKey(clusterId: string): Place {
  return ['clusters', clusterId, 'munge']
}
