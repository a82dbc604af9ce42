import type { Catalog } from '../catalog/catalog.ts'
import type { EndpointConfig } from '../endpoint/record.ts'
import { instanceOf, type Mapped } from '../flat/terms.ts'
import { implicitTemplateId } from './endpoints.ts'
import { type ContainerInput, containerBody, type DeployInput } from './pod-inputs.ts'
import { argsOfStart, startOfArgs } from './start-script.ts'
import { envOf, type FlatEnv, given, itemsOf } from './values.ts'

/** The input of a new or changed endpoint. */
export interface EndpointInput extends Pick<DeployInput, 'templateId' | 'gpuCount' | 'networkVolumeId' | 'minCudaVersion'> {
  id?: string | null
  name?: string | null
  template?: (ContainerInput & { startScript?: string | null }) | null
  gpuIds?: string | null
  instanceIds?: readonly (string | null)[] | null
  networkVolumeIds?: readonly ({ networkVolumeId?: string | null } | null)[] | null
  locations?: string | null
  /** Seconds. */
  idleTimeout?: number | null
  scalerType?: string | null
  scalerValue?: number | null
  workersMin?: number | null
  workersMax?: number | null
  type?: string | null
  flashBootType?: string | null
  executionTimeoutMs?: number | null
  allowedCudaVersions?: string | null
  env?: FlatEnv
}

const TYPES: Readonly<Record<string, EndpointConfig['type']>> = { QB: 'QUEUE', LB: 'LOAD_BALANCER' }
const DEFAULT_SCALER_VALUE = 4
const NO_INSTANCE = '$.instanceIds: want <flavor>-<vCPUs>-<GB>, such as cpu3g-4-16'

/** The v2 body of a new endpoint (GQL-22, GQL-23). The caller checks it as v2 does. */
export function endpointBody(input: EndpointInput, catalog: Catalog): Mapped<Record<string, unknown>> {
  const { template, templateId } = input
  const container = containerOf(template, '')
  if (!container.ok) return container
  const machine = input.gpuIds ? { ok: true as const, body: { gpu: { ...poolsOf(input.gpuIds, catalog), ...gpuOf(input) } } } : cpuOf(input)
  if (!machine.ok) return machine
  if (Object.keys(machine.body).length === 0) {
    return { ok: false, detail: '$.gpuIds: list the GPU pools in order of preference, or set instanceIds for CPU machines' }
  }
  const places = placesOf(input, catalog)
  if (places && !places.ok) return places
  const type = typeOf(input.type)
  const env = { ...(template && envOf(template.env)), ...envOf(input.env) }
  const name = given(input.name) ?? given(template?.name)
  return {
    ok: true,
    body: {
      ...container.body,
      ...(name && { name }),
      ...(templateId && { templateId }),
      ...(Object.keys(env).length > 0 && { env }),
      ...(type && { type }),
      ...machine.body,
      ...sharedOf(input, type ?? 'QUEUE'),
      ...(places && places.body.length > 0 && { dataCenterIds: places.body }),
      ...volumesOf(input),
      ...scalingOf(input, null, type ?? 'QUEUE'),
    },
  }
}

/** The v2 PATCH body of a change: a field that is left out, zero or an empty string stays as it is; empty lists clear (GQL-22). */
export function endpointEdit(input: EndpointInput, before: EndpointConfig, catalog: Catalog): Mapped<Record<string, unknown>> {
  const { template, templateId } = input
  const container = containerOf(template, before.container.args)
  if (!container.ok) return container
  const machine = machineEdit(input, before, catalog)
  if (!machine.ok) return machine
  const places = placesOf(input, catalog)
  if (places && !places.ok) return places
  const env = envOf(input.env) ?? (template ? envOf(template.env) : undefined)
  const type = typeOf(input.type)
  const isNewTemplate = templateId && templateId !== before.templateId && templateId !== implicitTemplateId(before.id)
  return {
    ok: true,
    body: {
      ...container.body,
      ...(input.name && { name: input.name }),
      ...(isNewTemplate && { templateId }),
      ...(env && { env }),
      ...(type && { type }),
      ...machine.body,
      ...sharedOf(input, before.type),
      ...(places && { dataCenterIds: places.body }),
      ...volumesOf(input),
      ...scalingOf(input, before.scaling, before.type),
    },
  }
}

/**
 * The container fields of an inline template. An empty script or command counts as left out, and the part that is left out stays (GQL-43).
 */
function containerOf(template: EndpointInput['template'], args: string): Mapped<Record<string, unknown>> {
  if (!template) return { ok: true, body: {} }
  const { dockerArgs, startScript } = template
  if (!dockerArgs && !startScript) return { ok: true, body: containerBody(template) }
  const before = startOfArgs(args)
  const start = { dockerArgs: dockerArgs || before.dockerArgs, startScript: startScript || before.startScript }
  const command = argsOfStart(start, '$.template.startScript')
  return command.ok ? { ok: true, body: { ...containerBody(template), args: command.body } } : command
}

function machineEdit(input: EndpointInput, { compute }: EndpointConfig, catalog: Catalog): Mapped<Record<string, unknown>> {
  if (compute.kind === 'cpu' && !input.gpuIds) return cpuOf(input)
  const gpu = { ...(input.gpuIds && poolsOf(input.gpuIds, catalog)), ...gpuOf(input) }
  // An empty string clears a limit: a client that sends every field sends it for limits that it has not read.
  const cleared = {
    ...(input.allowedCudaVersions === '' && { allowedCudaVersions: [] }),
    ...(input.minCudaVersion === '' && { minCudaVersion: '' }),
  }
  const asked = { ...cleared, ...gpu }
  return { ok: true, body: Object.keys(asked).length > 0 ? { gpu: asked } : {} }
}

/**
 * Parses `AMPERE_16,-NVIDIA L4` into pools and excluded types (GQL-18). An exclusion of a type that the pools do not have is dropped
 * (GQL-65).
 */
function poolsOf(gpuIds: string, { gpuTypes }: Catalog): { pools: string[]; excludedTypes: string[] } {
  const items = itemsOf(gpuIds)
  const pools = items.filter((item) => !item.startsWith('-'))
  const excluded = items.filter((item) => item.startsWith('-')).map((item) => item.slice(1).trim())
  const isElsewhere = (typeId: string) => gpuTypes.some(({ id, pool }) => id === typeId && !(pool && pools.includes(pool)))
  return { pools, excludedTypes: excluded.filter((typeId) => !isElsewhere(typeId)) }
}

function gpuOf({ gpuCount, allowedCudaVersions, minCudaVersion }: EndpointInput): Record<string, unknown> {
  const versions = itemsOf(allowedCudaVersions)
  return {
    ...(gpuCount && { count: gpuCount }),
    ...(versions.length > 0 && { allowedCudaVersions: versions }),
    ...(minCudaVersion && { minCudaVersion }),
  }
}

function cpuOf({ instanceIds }: EndpointInput): Mapped<Record<string, unknown>> {
  const named = (instanceIds ?? []).flatMap((id) => (id ? [instanceOf(id)] : []))
  if (named.includes(null)) return { ok: false, detail: NO_INSTANCE }
  return { ok: true, body: named.length > 0 ? { cpu: named } : {} }
}

/**
 * The ids of the named data centers and of those in the named countries (GQL-18); undefined without `locations`, empty for an empty string.
 */
function placesOf({ locations }: EndpointInput, { dataCenters }: Catalog): Mapped<string[]> | undefined {
  if (typeof locations !== 'string') return undefined
  const ids = itemsOf(locations).map((item) => {
    const inCountry = dataCenters.filter(({ country }) => country === item).map(({ id }) => id)
    return /^[A-Z]{2}$/.test(item) ? inCountry : [item]
  })
  if (ids.some((found) => found.length === 0)) return { ok: false, detail: '$.locations: one of these countries has no data center' }
  return { ok: true, body: [...new Set(ids.flat())] }
}

function volumesOf({ networkVolumeId, networkVolumeIds }: EndpointInput): { networkVolumes?: string[] } {
  const listed = (networkVolumeIds ?? []).flatMap((one) => (one?.networkVolumeId ? [one.networkVolumeId] : []))
  if (listed.length > 0) return { networkVolumes: listed }
  if (typeof networkVolumeId === 'string') return { networkVolumes: itemsOf(networkVolumeId) }
  return networkVolumeIds ? { networkVolumes: [] } : {}
}

function sharedOf(input: EndpointInput, type: EndpointConfig['type']): Record<string, unknown> {
  const { workersMin, workersMax, idleTimeout, scalerType, executionTimeoutMs, flashBootType } = input
  // With scaling by REQUEST_COUNT a queue never reads `idleTimeout`, and v2 refuses it, but clients always send it.
  const isIdle = Boolean(idleTimeout) && !(type === 'QUEUE' && scalerType === 'REQUEST_COUNT')
  const workers = {
    ...(typeof workersMin === 'number' && { min: workersMin }),
    ...(typeof workersMax === 'number' && { max: workersMax }),
    ...(isIdle && { idleTimeout }),
  }
  return {
    ...(Object.keys(workers).length > 0 && { workers }),
    ...(executionTimeoutMs && { timeout: executionTimeoutMs }),
    ...(flashBootType && { flashboot: flashBootType }),
  }
}

function scalingOf({ scalerType, scalerValue }: EndpointInput, before: EndpointConfig['scaling'] | null, type: EndpointConfig['type']) {
  if (!scalerType && !scalerValue) return {}
  const wanted = scalerType || before?.type || (type === 'QUEUE' ? 'QUEUE_DELAY' : 'REQUEST_COUNT')
  const value = scalerValue || (before && before.type === wanted ? figureOf(before) : DEFAULT_SCALER_VALUE)
  return { scaling: wanted === 'REQUEST_COUNT' ? { type: wanted, requestCount: value } : { type: wanted, queueDelay: value } }
}

function figureOf(scaling: EndpointConfig['scaling']): number {
  return scaling.type === 'QUEUE_DELAY' ? scaling.queueDelay : scaling.requestCount
}

/** An unknown string is passed on: the check of v2 refuses it. */
function typeOf(type: string | null | undefined): EndpointConfig['type'] | undefined {
  return type ? (TYPES[type] ?? (type as EndpointConfig['type'])) : undefined
}
