import { POD_DEFAULTS } from '../../../contract/defaults.ts'
import type { PodMountsRequest } from '../../../contract/pods/mounts.ts'
import type { CreatePodRequest } from '../../../contract/pods/pods.ts'
import { badRequest, type Refusal } from '../../../contract/problems.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import { refuseBuiltin } from '../../resources/builtin-image.ts'
import type { TemplateConfig } from '../../resources/record.ts'
import { type Deadlines, NO_DEADLINES, planDeadlines } from '../deadlines.ts'
import { planIdleStop } from '../idle-stop.ts'
import { type Labels, labelsAfter } from '../labels.ts'
import { podDiskRates } from '../rates.ts'
import type { PodSpec } from '../record.ts'
import { type ComputeResult, cpuCompute, gpuCompute, refuseDisk } from './compute.ts'
import { createContainer, refuseSize } from './container.ts'
import { createMounts } from './mounts.ts'

/** Resources that the ids of a request refer to, if they exist and the account may use them; null or false otherwise. */
export interface PodReferences {
  template: TemplateConfig | null
  networkVolume: { id: string; dataCenterId: string } | null
  hasGlobalVolume: boolean
  hasRegistry: boolean
  /** First of the named data centers that does not exist. */
  unknownDataCenter: string | null
  sshKeys: readonly string[]
}

/** A planned create, before placement. */
export interface PodPlan {
  spec: PodSpec
  templateId: string | null
  /** Price of the whole pod, USD per hour. */
  pricePerHour: number
  diskRates: ReturnType<typeof podDiskRates>
  deadlines: Deadlines
  labels: Labels
}

/** The plan of a create, or its refusal. */
export type PlanResult = { ok: true; plan: PodPlan } | { ok: false; problem: Refusal }

/** Validates a create body independently of the resources that it names (POD-4, POD-5, POD-7). */
export function refuseCreate({ gpu, cpu, image, templateId }: CreatePodRequest): Refusal | null {
  if ((gpu === undefined) === (cpu === undefined)) return badRequest('exactly one of gpu or cpu must be set')
  if (!image && templateId === undefined) return badRequest('image is required unless templateId is set')
  if ((gpu?.allowedCudaVersions ?? []).length > 0 && gpu?.minCudaVersion !== undefined) {
    return badRequest('gpu.allowedCudaVersions and gpu.minCudaVersion exclude each other')
  }
  return null
}

/**
 * Plan for the pod that a body requests (POD-3 to POD-11, POD-20), or why it is refused. `jupyterPassword` is used when the body or the
 * template starts Jupyter.
 */
export function planPod(
  catalog: Catalog,
  body: CreatePodRequest,
  references: PodReferences,
  jupyterPassword: string,
  nowMs: number,
): PlanResult {
  const { template } = references
  const container = createContainer(body, template?.container ?? null)
  if (!container.ok) return container
  const cloud = body.cloud ?? POD_DEFAULTS.cloud
  const computed = computeOf(catalog, body, cloud, template)
  if (!computed.ok) return computed
  const times = planDeadlines(NO_DEADLINES, body, nowMs)
  if (!times.ok) return times
  const mounts = createMounts(mountsOf(body, template), computed.compute.kind === 'cpu')
  if (!mounts.ok) return mounts
  const idleStop = planIdleStop(undefined, body.idleStop, nowMs)
  const spec: PodSpec = {
    container: container.container,
    compute: computed.compute,
    cloud,
    dataCenterIds: body.dataCenterIds ?? [],
    mounts: mounts.mounts,
    globalNetworking: body.globalNetworking ?? POD_DEFAULTS.globalNetworking,
    onHostLoss: body.onHostLoss ?? POD_DEFAULTS.onHostLoss,
    ...(idleStop && { idleStop }),
  }
  const problem = refuseSpec(spec) ?? refuseReferences(body, spec, references) ?? refuseSize(body, spec.container)
  if (problem) return { ok: false, problem }
  const finished = withAccess(placedByVolume(spec, references), body, references, jupyterPassword)
  return {
    ok: true,
    plan: {
      spec: finished,
      templateId: template?.id ?? null,
      pricePerHour: computed.pricePerHour,
      diskRates: podDiskRates(catalog.storage, finished),
      deadlines: times.deadlines,
      labels: labelsAfter({}, body.labels),
    },
  }
}

/** Validates a whole pod, for create and PATCH alike. */
export function refuseSpec({ compute, container, mounts, onHostLoss }: PodSpec): Refusal | null {
  if (mounts.persistent && onHostLoss === 'REPLACE') {
    return badRequest('onHostLoss REPLACE and mounts.persistent exclude each other: a persistent mount cannot leave its host')
  }
  return refuseBuiltin(container.image, Object.keys(mounts).length > 0) ?? refuseDisk(compute, container.diskGb)
}

/** 400 when a named registry credential cannot be used (CON-7); null otherwise. */
export function refuseRegistry(registry: string | null | undefined, hasRegistry: boolean): Refusal | null {
  return registry && !hasRegistry ? badRequest(`container registry auth ${registry} not found`) : null
}

function computeOf(
  catalog: Catalog,
  { gpu, cpu }: CreatePodRequest,
  cloud: PodSpec['cloud'],
  template: TemplateConfig | null,
): ComputeResult {
  if (gpu) return gpuCompute(catalog, gpu, cloud, template?.allowedCudaVersions ?? [])
  return cpu ? cpuCompute(catalog, cpu, cloud) : { ok: false, problem: badRequest('exactly one of gpu or cpu must be set') }
}

/** POD-11: the template's mount, unless the body names mounts of its own (POD-38). A CPU pod ignores the template's mount. */
function mountsOf({ mounts = {}, cpu }: CreatePodRequest, template: TemplateConfig | null): PodMountsRequest {
  const isNamed = mounts.persistent !== undefined || (mounts.network ?? []).length > 0 || (mounts.global ?? []).length > 0
  const persistent = template?.persistent
  if (isNamed || !persistent || cpu) return mounts
  return { persistent: { size: persistent.sizeGb, path: persistent.path } }
}

function refuseReferences(body: CreatePodRequest, { dataCenterIds, mounts }: PodSpec, references: PodReferences): Refusal | null {
  const { networkVolume, hasGlobalVolume, hasRegistry, unknownDataCenter } = references
  if (unknownDataCenter !== null) return badRequest(`dataCenterIds: data center ${unknownDataCenter} not found`)
  const { network, global } = mounts
  if (network && !networkVolume) return badRequest(`network volume ${network.volumeId} not found`)
  if (networkVolume && dataCenterIds.length > 0 && !dataCenterIds.includes(networkVolume.dataCenterId)) {
    return badRequest(`network volume ${networkVolume.id} is in ${networkVolume.dataCenterId}, not in ${dataCenterIds.join(', ')}`)
  }
  if (global && !hasGlobalVolume) return badRequest(`global volume ${global.volumeId} not found`)
  return refuseRegistry(body.registry, hasRegistry)
}

function placedByVolume(spec: PodSpec, { networkVolume }: PodReferences): PodSpec {
  return networkVolume ? { ...spec, dataCenterIds: [networkVolume.dataCenterId] } : spec
}

/** Adds the access variables of SSH and Jupyter (POD-20). */
function withAccess(spec: PodSpec, body: CreatePodRequest, { template, sshKeys }: PodReferences, jupyterPassword: string): PodSpec {
  const wantsSsh = body.startSsh ?? template?.startSsh ?? false
  const wantsJupyter = body.startJupyter ?? template?.startJupyter ?? false
  const made = [
    ...(wantsSsh && sshKeys.length > 0 ? [['PUBLIC_KEY', sshKeys.join('\n')] as const] : []),
    ...(wantsJupyter ? [['JUPYTER_PASSWORD', jupyterPassword] as const] : []),
  ].filter(([name]) => !Object.hasOwn(spec.container.env, name))
  return {
    ...spec,
    ...(made.length > 0 && { accessEnv: Object.fromEntries(made) }),
    ...(wantsSsh && { startSsh: true }),
  }
}
