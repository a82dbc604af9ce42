import { expect } from '../harness.ts'

/**
 * The values that a field of a Go struct accepts from JSON: `encoding/json` refuses a whole answer for one value of another kind. Every
 * kind accepts null, which sets nothing; members without a field are skipped.
 */
type GoType = 'string' | 'int' | 'float64' | 'bool' | 'any' | '[]string' | '[]any' | 'map[string]string' | 'map[string]any'
export type GoStruct = Readonly<Record<string, GoType>>

const isText = (value: unknown) => typeof value === 'string'
const isMap = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const TAKES: Readonly<Record<GoType, (value: unknown) => boolean>> = {
  string: isText,
  int: Number.isSafeInteger,
  float64: (value) => typeof value === 'number',
  bool: (value) => typeof value === 'boolean',
  any: () => true,
  '[]string': (value) => Array.isArray(value) && value.every(isText),
  '[]any': Array.isArray,
  'map[string]string': (value) => isMap(value) && Object.values(value).every(isText),
  'map[string]any': isMap,
}

/** Decodes as Go does into a struct of these fields. */
export function decodeGo(value: unknown, struct: GoStruct): Record<string, unknown> {
  if (!isMap(value)) throw new Error(`json: cannot unmarshal ${JSON.stringify(value)} into a struct`)
  const decoded: Record<string, unknown> = {}
  for (const [name, type] of Object.entries(struct)) {
    const member = value[name]
    if (member === undefined || member === null) continue
    expect(TAKES[type](member), `json: cannot unmarshal ${JSON.stringify(member)} into field ${name} of type ${type}`).toBe(true)
    decoded[name] = member
  }
  return decoded
}

/** Decodes a bare array of structs. */
export function decodeGoList(value: unknown, struct: GoStruct): Record<string, unknown>[] {
  if (!Array.isArray(value)) throw new Error(`json: cannot unmarshal ${JSON.stringify(value)} into a slice`)
  return value.map((item) => decodeGo(item, struct))
}

/** Fields that command-line clients of v1 read, with the types that they declare. */
export const GO_POD: GoStruct = {
  id: 'string',
  name: 'string',
  desiredStatus: 'string',
  createdAt: 'any',
  lastStatusChange: 'any',
  uptimeSeconds: 'any',
  imageName: 'string',
  gpuTypeId: 'string',
  gpuCount: 'int',
  volumeInGb: 'int',
  containerDiskInGb: 'int',
  memoryInGb: 'int',
  vcpuCount: 'int',
  volumeMountPath: 'string',
  ports: '[]string',
  costPerHr: 'float64',
  machine: 'map[string]any',
  runtime: 'map[string]any',
  env: 'map[string]string',
}
export const GO_ENDPOINT: GoStruct = {
  id: 'string',
  name: 'string',
  templateId: 'string',
  gpuIds: 'string',
  instanceIds: '[]string',
  networkVolumeId: 'string',
  networkVolumeIds: '[]string',
  locations: 'string',
  idleTimeout: 'int',
  scalerType: 'string',
  scalerValue: 'int',
  workersMin: 'int',
  workersMax: 'int',
  gpuCount: 'int',
  minCudaVersion: 'string',
  flashboot: 'bool',
  flashBootType: 'string',
  computeType: 'string',
  executionTimeoutMs: 'int',
  modelReferences: '[]string',
  template: 'map[string]any',
  workers: '[]any',
}
export const GO_TEMPLATE: GoStruct = {
  id: 'string',
  name: 'string',
  imageName: 'string',
  isServerless: 'bool',
  isPublic: 'bool',
  isRunpod: 'bool',
  category: 'string',
  ports: '[]string',
  dockerEntrypoint: '[]string',
  dockerStartCmd: '[]string',
  env: 'map[string]string',
  containerDiskInGb: 'int',
  containerRegistryAuthId: 'string',
  volumeInGb: 'int',
  volumeMountPath: 'string',
  readme: 'string',
}
export const GO_VOLUME: GoStruct = { id: 'string', name: 'string', size: 'int', dataCenterId: 'string' }
export const GO_REGISTRY: GoStruct = { id: 'string', name: 'string' }
