import { ENDPOINT_DEFAULTS } from '../../contract/defaults.ts'
import { sameValue } from '../same-value.ts'
import type { EndpointConfig } from './record.ts'

/** One changed field of a release (END-14); values are raw JSON, null for an absent one. */
export interface ReleaseDiff {
  field: string
  old: unknown
  new: unknown
}

/** The fields under the names that published releases use, in a fixed order. */
function fieldsOf(config: EndpointConfig): Record<string, unknown> {
  const { container, compute } = config
  const gpu = compute.kind === 'gpu' ? compute : null
  return {
    name: config.name,
    'template.imageName': container.image,
    'template.dockerArgs': container.args,
    'template.containerDiskInGb': container.diskGb,
    [ENV_FIELD]: container.env,
    'template.ports': container.ports,
    'template.containerRegistryAuthId': container.registry,
    gpuPools: gpu?.pools ?? null,
    excludedTypes: gpu?.excludedTypes ?? null,
    gpuCount: gpu?.count ?? null,
    allowedCudaVersions: gpu?.allowedCudaVersions ?? null,
    minCudaVersion: gpu?.minCudaVersion ?? null,
    cpu: compute.kind === 'cpu' ? compute.options : null,
    locations: config.dataCenterIds,
    cloud: config.cloud ?? ENDPOINT_DEFAULTS.cloud,
    networkVolumes: config.networkVolumes,
    'workers.min': config.workers.min,
    'workers.max': config.workers.max,
    'workers.idleTimeout': config.workers.idleTimeoutSeconds,
    scaling: config.scaling,
    timeout: config.timeoutMs,
    resultRetention: config.retention ?? null,
    flashboot: config.flashboot,
  }
}

const ENV_FIELD = 'template.env'
/** Prefix of the digest that replaces a variable's value. */
const DIGEST_PREFIX = 'hmac-sha256:'

/**
 * A diff without values of variables: names stay, and `digest` replaces each value, so that equal ones can be recognized (END-34). Values
 * that are already replaced stay.
 */
export function hideVariables(diff: readonly ReleaseDiff[], digest: (name: string, value: string) => string): ReleaseDiff[] {
  const hide = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, hideValue(name, String(text), digest)]))
  }
  return diff.map((change) => (change.field === ENV_FIELD ? { ...change, old: hide(change.old), new: hide(change.new) } : change))
}

function hideValue(name: string, value: string, digest: (name: string, value: string) => string): string {
  return HIDDEN.test(value) ? value : `${DIGEST_PREFIX}${digest(name, value)}`
}

const HIDDEN = /^hmac-sha256:[\w-]{16}$/

/** The fields that differ between two configurations of one endpoint. */
export function diffConfigs(before: EndpointConfig, after: EndpointConfig): ReleaseDiff[] {
  const old = fieldsOf(before)
  return Object.entries(fieldsOf(after))
    .filter(([field, value]) => !sameValue(old[field], value))
    .map(([field, value]) => ({ field, old: old[field] ?? null, new: value }))
}

/** Whether all fields that a user can set are equal. */
export function sameConfig(before: EndpointConfig, after: EndpointConfig): boolean {
  return diffConfigs(before, after).length === 0
}

/** Whether the container or its placement differs: only then are workers replaced (END-12). */
export function isNewRelease(before: EndpointConfig, after: EndpointConfig): boolean {
  return (
    !sameValue(before.container, after.container) ||
    !sameValue(before.compute, after.compute) ||
    !sameValue(before.dataCenterIds, after.dataCenterIds) ||
    (before.cloud ?? ENDPOINT_DEFAULTS.cloud) !== (after.cloud ?? ENDPOINT_DEFAULTS.cloud) ||
    !sameValue(before.networkVolumes, after.networkVolumes)
  )
}
