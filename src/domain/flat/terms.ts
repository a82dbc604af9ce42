// The names of fields and the readers of values that v1 and GraphQL have in common.

/** Fields whose names in v2 and in another API differ, v2's name first. */
export type FieldNames = readonly (readonly [v2: string, flat: string])[]

/** Fields that v1 and GraphQL name alike. */
export const SHARED_NAMES: FieldNames = [
  ['mounts.persistent.size', 'volumeInGb'],
  ['mounts.persistent.path', 'volumeMountPath'],
  ['mounts.network[0].volumeId', 'networkVolumeId'],
  ['mounts.network[0].path', 'volumeMountPath'],
  ['gpu.count', 'gpuCount'],
  ['gpu.allowedCudaVersions', 'allowedCudaVersions'],
  ['gpu.minCudaVersion', 'minCudaVersion'],
  ['workers.min', 'workersMin'],
  ['workers.max', 'workersMax'],
  ['workers.idleTimeout', 'idleTimeout'],
  ['scaling.queueDelay', 'scalerValue'],
  ['scaling.requestCount', 'scalerValue'],
  ['timeout', 'executionTimeoutMs'],
  ['networkVolumes', 'networkVolumeIds'],
  ['dataCenter', 'dataCenterId'],
  ['public', 'isPublic'],
  ['serverless', 'isServerless'],
]

/** An error of the v2 check with the client's name of its field; the longest name that fits counts. */
export function inTermsOf(names: FieldNames, error: string): string {
  const fits = names.filter(([v2]) => error.startsWith(`$.${v2}`) && !/^\w/.test(error.slice(v2.length + 2)))
  const [best] = fits.toSorted(([a], [b]) => b.length - a.length)
  return best ? `$.${best[1]}${error.slice(best[0].length + 2)}` : error
}

/** A v2 body, or the reason why an input cannot be mapped to one. */
export type Mapped<Body> = { ok: true; body: Body } | { ok: false; detail: string }

/** `<flavor>-<vCPUs>-<GB>` (SEED-3). */
const INSTANCE = /^([a-z0-9]+)-(\d{1,3})-(\d{1,4})$/

/** Parses the name of a CPU machine, whose memory is in GB; null for other text. */
export function instanceOf(text: string): { id: string; vcpuCount: number; memory: number } | null {
  const [, id, vcpus, memory] = INSTANCE.exec(text) ?? []
  return id === undefined ? null : { id, vcpuCount: Number(vcpus), memory: Number(memory) }
}
