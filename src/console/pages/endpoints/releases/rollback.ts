import type { UpdateEndpointRequest } from '../../../../contract/endpoints/endpoints.ts'
import type { Release } from '../../../../contract/endpoints/releases.ts'

/** Rollback to a release: the update request, and the fields that it cannot restore. */
export interface Rollback {
  body: UpdateEndpointRequest
  lost: string[]
}

const MEMBERS: Readonly<Record<string, string>> = {
  'template.imageName': 'image',
  'template.dockerArgs': 'args',
  'template.containerDiskInGb': 'disk',
  'template.ports': 'ports',
  'template.containerRegistryAuthId': 'registry',
  locations: 'dataCenterIds',
  cloud: 'cloud',
  networkVolumes: 'networkVolumes',
}
const GPU_MEMBERS: Readonly<Record<string, string>> = {
  gpuPools: 'pools',
  excludedTypes: 'excludedTypes',
  gpuCount: 'count',
  allowedCudaVersions: 'allowedCudaVersions',
  minCudaVersion: 'minCudaVersion',
}
/** Limits and names are not part of a release; a rollback leaves them unchanged. */
const KEPT = /^(name|workers\.|scaling|timeout|resultRetention|flashboot)/

/**
 * Update request that undoes every release after `version`; `releases` must contain all of them. Values of variables are never shown
 * (END-34), so they cannot be restored, and neither can another kind of hardware.
 */
export function rollbackTo(version: number, releases: readonly Release[]): Rollback {
  const later = releases.filter((release) => release.version > version).sort((a, b) => b.version - a.version)
  // The oldest release comes last and overwrites the others: its old values are those in force at `version`.
  const before = new Map(later.flatMap(({ diff }) => diff.map((change) => [change.field, change.old] as const)))
  const body: Record<string, unknown> = {}
  const gpu: Record<string, unknown> = {}
  const lost: string[] = []
  for (const [field, value] of before) {
    const member = MEMBERS[field]
    const gpuMember = GPU_MEMBERS[field]
    if (member !== undefined) body[member] = value
    else if (gpuMember !== undefined && (value !== null || gpuMember === 'minCudaVersion')) gpu[gpuMember] = value ?? ''
    else if (!KEPT.test(field)) lost.push(field)
  }
  if (gpu.excludedTypes !== undefined && gpu.pools === undefined) lost.push('excludedTypes')
  if (Object.keys(gpu).length > 0 && !lost.includes('cpu')) body.gpu = gpu
  return { body: body as UpdateEndpointRequest, lost }
}
