import type { CreateClusterRequest } from '../../contract/clusters/clusters.ts'
import { CLUSTER_DEFAULTS } from '../../contract/defaults.ts'
import type { CreatePodRequest } from '../../contract/pods/pods.ts'
import { badRequest, type Refusal } from '../../contract/problems.ts'
import { refuseCapacity } from '../pod/place/refusal.ts'
import type { PodSpec } from '../pod/record.ts'
import type { Gang } from './gang.ts'

/** What a body of a create asks for. Pure. */

/** Members that a template supplies, so they cannot stand beside one (CLU-6). */
const OF_TEMPLATE = ['image', 'args', 'entrypoint', 'cmd', 'disk', 'env', 'ports', 'mounts'] as const

/** What is wrong with a body whatever its ids stand for (CLU-6). */
export function refuseCluster(body: CreateClusterRequest): Refusal | null {
  const both = body.templateId === undefined ? [] : OF_TEMPLATE.filter((name) => body[name] !== undefined)
  if (both.length > 0) return badRequest(`templateId excludes ${both.join(', ')}: the template supplies them`)
  if (body.mounts?.persistent && (body.mounts.network ?? []).length > 0) {
    return badRequest('mounts.persistent and mounts.network exclude each other')
  }
  return null
}

/** One member as a pod that would be asked for (CLU-2, CLU-6): what places and checks pods decides on members too. */
export function memberRequest({ type: _type, compute, ...body }: CreateClusterRequest): CreatePodRequest {
  return {
    ...body,
    gpu: { id: compute.gpuTypeId, count: compute.gpuCountPerPod },
    cloud: 'SECURE',
    // A cluster has defaults where a pod takes its template's word.
    startJupyter: body.startJupyter ?? false,
    startSsh: body.startSsh ?? false,
    onHostLoss: body.onHostLoss ?? CLUSTER_DEFAULTS.onHostLoss,
  }
}

/** Why no member can be, with the places of the cluster's own body. */
export function inClusterBody({ errors, ...refusal }: Refusal): Refusal {
  return errors === undefined ? refusal : { ...refusal, errors: errors.map((text) => text.replace('$.gpu.id:', '$.compute.gpuTypeId:')) }
}

/** What a member is called (CLU-10). */
export function memberName(clusterName: string, rank: number): string {
  return `${clusterName}-${rank}`
}

/** A member's specification: a pod's, with what it must know of its cluster. */
export function memberSpec(spec: PodSpec, { type, compute }: CreateClusterRequest): PodSpec {
  return { ...spec, cluster: { type, podCount: compute.podCount } }
}

/** Why no data center has room for all members (CLU-8). */
export function refuseGang(gang: Extract<Gang, { ok: false }>, podCount: number, missing: Parameters<typeof refuseCapacity>[1]): Refusal {
  const refusal = refuseCapacity(gang.refusals, missing)
  const { nearest } = gang
  const place = nearest
    ? `members: ${nearest.dataCenterId} has room for ${nearest.members} of ${podCount}, and all must be in one data center`
    : `members: no data center has room for any of ${podCount}`
  return { ...refusal, errors: [place, ...(refusal.errors ?? [])] }
}
