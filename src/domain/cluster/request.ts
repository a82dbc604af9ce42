import type { CreateClusterRequest } from '../../contract/clusters/clusters.ts'
import { CLUSTER_DEFAULTS } from '../../contract/defaults.ts'
import type { CreatePodRequest } from '../../contract/pods/pods.ts'
import { badRequest, type Refusal } from '../../contract/problems.ts'
import { refuseCapacity } from '../pod/place/refusal.ts'
import type { PodSpec } from '../pod/record.ts'
import type { Gang } from './gang.ts'

/** Interprets the body of a create request. Pure. */

/** Fields that a template supplies, so a body cannot have them beside `templateId` (CLU-6). */
const OF_TEMPLATE = ['image', 'args', 'entrypoint', 'cmd', 'disk', 'env', 'ports', 'mounts'] as const

/** Refuses a body that is invalid whatever its ids refer to (CLU-6). */
export function refuseCluster(body: CreateClusterRequest): Refusal | null {
  const both = body.templateId === undefined ? [] : OF_TEMPLATE.filter((name) => body[name] !== undefined)
  if (both.length > 0) return badRequest(`templateId excludes ${both.join(', ')}: the template supplies them`)
  if (body.mounts?.persistent && (body.mounts.network ?? []).length > 0) {
    return badRequest('mounts.persistent and mounts.network exclude each other')
  }
  return null
}

/** One member as the create request of a pod (CLU-2, CLU-6), so that the functions that check and place pods apply to members. */
export function memberRequest({ type: _type, compute, ...body }: CreateClusterRequest): CreatePodRequest {
  return {
    ...body,
    gpu: { id: compute.gpuTypeId, count: compute.gpuCountPerPod },
    cloud: 'SECURE',
    // A cluster has its own defaults; a pod takes these from its template.
    startJupyter: body.startJupyter ?? false,
    startSsh: body.startSsh ?? false,
    onHostLoss: body.onHostLoss ?? CLUSTER_DEFAULTS.onHostLoss,
  }
}

/** The refusal of a member, with paths of the cluster's body. */
export function inClusterBody({ errors, ...refusal }: Refusal): Refusal {
  return errors === undefined ? refusal : { ...refusal, errors: errors.map((text) => text.replace('$.gpu.id:', '$.compute.gpuTypeId:')) }
}

/** The name of a member (CLU-10). */
export function memberName(clusterName: string, rank: number): string {
  return `${clusterName}-${rank}`
}

/** A member's specification: that of a pod, with the facts of its cluster. */
export function memberSpec(spec: PodSpec, { type, compute }: CreateClusterRequest): PodSpec {
  return { ...spec, cluster: { type, podCount: compute.podCount } }
}

/** Refuses a cluster because no data center has room for all members (CLU-8). */
export function refuseGang(gang: Extract<Gang, { ok: false }>, podCount: number, missing: Parameters<typeof refuseCapacity>[1]): Refusal {
  const refusal = refuseCapacity(gang.refusals, missing)
  const { nearest } = gang
  const place = nearest
    ? `members: ${nearest.dataCenterId} has room for ${nearest.members} of ${podCount}, and all must be in one data center`
    : `members: no data center has room for any of ${podCount}`
  return { ...refusal, errors: [place, ...(refusal.errors ?? [])] }
}
