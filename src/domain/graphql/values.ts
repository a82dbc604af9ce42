import { type FieldNames, inTermsOf, SHARED_NAMES } from '../flat/terms.ts'

// The flat names of GraphQL, and the conversion between its strings and the lists and maps of v2 (GQL-13, GQL-17), for all mappings.

/** Fields whose names in GraphQL and v2 differ, v2's name first: an error names the field that the client sent. */
const NAMES: FieldNames = [
  ...SHARED_NAMES,
  ['image', 'imageName'],
  ['args', 'dockerArgs'],
  ['disk', 'containerDiskInGb'],
  ['registry', 'containerRegistryAuthId'],
  ['mounts.global[0].volumeId', 'objectMounts[0].objectStoreId'],
  ['mounts.global[0].path', 'objectMounts[0].mountPath'],
  ['mounts.global', 'objectMounts'],
  ['gpu.id', 'gpuTypeId'],
  ['gpu.pools', 'gpuIds'],
  ['gpu.excludedTypes', 'gpuIds'],
  ['gpu.minRamPerGpu', 'minMemoryInGb'],
  ['gpu.minVcpuCountPerGpu', 'minVcpuCount'],
  ['compute.gpuTypeId', 'gpuTypeId'],
  ['compute.gpuCountPerPod', 'gpuCountPerPod'],
  ['compute.podCount', 'podCount'],
  ['cpu', 'instanceIds'],
  ['cpu.id', 'instanceId'],
  ['cpu.vcpuCount', 'instanceId'],
  ['cpu.memory', 'instanceId'],
  ['cloud', 'cloudType'],
  ['scaling.type', 'scalerType'],
  ['flashboot', 'flashBootType'],
  ['dataCenterIds', 'locations'],
  ['portNames', 'portsConfig'],
]

/** An error of the v2 check with the GraphQL name of its field. */
export function inFlatTerms(error: string): string {
  return inTermsOf(NAMES, error)
}

/** Variables as clients send them. */
export type FlatEnv = readonly ({ key?: string | null; value?: string | null } | null)[] | null

/** Variables of v2. Of several with one name the last counts; an empty name is passed on, and the check of v2 refuses it. */
export function envOf(list: FlatEnv | undefined): Record<string, string> | undefined {
  if (!list) return undefined
  return Object.fromEntries(list.flatMap((one) => (one ? [[one.key ?? '', one.value ?? '']] : [])))
}

/** Variables as `KEY=value`, the form in which pods show them. */
export function envTexts(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(([key, value]) => `${key}=${value}`)
}

/** Variables as pairs, the form in which templates and endpoints show them. */
export function envPairs(env: Readonly<Record<string, string>>): { key: string; value: string }[] {
  return Object.entries(env).map(([key, value]) => ({ key, value }))
}

/** The items of a comma-separated string; none for an empty string or null. */
export function itemsOf(text: string | null | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** Returns undefined for an empty string and for null. */
export function given(text: string | null | undefined): string | undefined {
  return text || undefined
}

/** The text of each level of availability. */
export const STOCK = { HIGH: 'High', MEDIUM: 'Medium', LOW: 'Low', NONE: 'None' } as const
