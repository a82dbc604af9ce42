import { openDatabase } from '../../db/client.ts'
import { findClusterById } from '../../db/clusters/clusters.ts'
import { openMungeKey } from '../../db/clusters/munge-key.ts'
import type { PodRow } from '../../db/pods/pods.ts'
import { CLUSTER_DEFAULT_ENV, clusterEnv, placeOfMember } from '../../domain/cluster/environment.ts'
import { clusterFiles } from '../../domain/cluster/files.ts'
import type { Env } from '../../env.ts'
import type { Workload } from '../../host-protocol/messages.ts'
import { CLUSTER_INTERFACE } from '../../host-protocol/overlays.ts'
import { vaultOf } from '../../platform/seal.ts'

/** Additions to a workload whose pod is a member of a cluster. */
export interface MemberParts {
  /** Defaults that the user's own `env` overrides. */
  defaultEnv: Readonly<Record<string, string>>
  platformEnv: Record<string, string>
  workload: Pick<Workload, 'overlays' | 'files'>
}

const NOTHING: MemberParts = { defaultEnv: {}, platformEnv: {}, workload: {} }

/** Environment, overlay and files that a pod gets as a member of its cluster; empty for other pods. */
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

async function readMungeKey(env: Env, clusterId: string): Promise<string | null> {
  const row = await findClusterById(openDatabase(env.DB), clusterId)
  return row?.sealedSecret ? openMungeKey(vaultOf(env), clusterId, row.sealedSecret) : null
}
