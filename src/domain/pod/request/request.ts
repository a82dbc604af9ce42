import { POD_DEFAULTS } from '../../../contract/defaults.ts'
import type { PodMountsRequest } from '../../../contract/pods/mounts.ts'
import type { CreatePodRequest } from '../../../contract/pods/pods.ts'
import { badRequest, type Refusal } from '../../../contract/problems.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import { refuseBuiltin } from '../../resources/builtin-image.ts'
import type { TemplateConfig } from '../../resources/record.ts'
import { type Deadlines, NO_DEADLINES, planDeadlines } from '../deadlines.ts'
import { planIdleStop } from '../idle-stop.ts'
import { podDiskRates } from '../rates.ts'
import type { PodSpec } from '../record.ts'
import { type ComputeResult, cpuCompute, gpuCompute, refuseDisk } from './compute.ts'
import { createContainer, refuseSize } from './container.ts'
import { createMounts } from './mounts.ts'

/** What the ids in a request stand for, as far as the account may use it; null: it may not, or there is none. */
export interface PodReferences {
  template: TemplateConfig | null
  networkVolume: { id: string; dataCenterId: string } | null
  hasGlobalVolume: boolean
  hasRegistry: boolean
  /** The first of the named data centers that nobody knows. */
  unknownDataCenter: string | null
  sshKeys: readonly string[]
}

/** What a create comes to before it is placed. */
export interface PodPlan {
  spec: PodSpec
  templateId: string | null
  /** USD for the whole pod. */
  pricePerHour: number
  diskRates: ReturnType<typeof podDiskRates>
  deadlines: Deadlines
}

export type PlanResult = { ok: true; plan: PodPlan } | { ok: false; problem: Refusal }

/** What is wrong with a create body whatever its ids stand for (POD-4, POD-5, POD-7). */
export function refuseCreate({ gpu, cpu, image, templateId }: CreatePodRequest): Refusal | null {
  if ((gpu === undefined) === (cpu === undefined)) return badRequest('exactly one of gpu or cpu must be set')
  if (!image && templateId === undefined) return badRequest('image is required unless templateId is set')
  if ((gpu?.allowedCudaVersions ?? []).length > 0 && gpu?.minCudaVersion !== undefined) {
    return badRequest('gpu.allowedCudaVersions and gpu.minCudaVersion exclude each other')
  }
  return null
}

/** The pod that a body asks for (POD-3 to POD-11, POD-20), or why it cannot be. `jupyterPassword` is used when one is wanted. */
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
    globalNetworking: body.globalNetworking ?? false,
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
    },
  }
}

/** Rules over a whole pod, the same for create and PATCH. */
export function refuseSpec({ compute, container, mounts, onHostLoss }: PodSpec): Refusal | null {
  if (mounts.persistent && onHostLoss === 'REPLACE') {
    return badRequest('onHostLoss REPLACE and mounts.persistent exclude each other: a persistent mount cannot leave its host')
  }
  return refuseBuiltin(container.image, Object.keys(mounts).length > 0) ?? refuseDisk(compute, container.diskGb)
}

/** Why a named registry credential cannot be used (CON-7). */
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

/** POD-11: the template's mount, unless the body names mounts of its own (PP-84); a CPU pod ignores it. */
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

/** POD-20. */
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
