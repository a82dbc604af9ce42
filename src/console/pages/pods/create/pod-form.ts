import { POD_DEFAULTS, PROPOSED } from '../../../../contract/defaults.ts'
import type { CreatePodRequest } from '../../../../contract/pods/pods.ts'
import { type ContainerText, containerBody, EMPTY_CONTAINER } from '../../../parts/container/container-form.ts'
import { readLabels, readNames, readNumber } from '../../../parts/container/text-lists.ts'
import type { HardwareText } from '../../../parts/hardware/hardware.tsx'
import { deadlineAt } from '../deadline.ts'

/** Form of a new pod, as text. */
export interface PodText extends HardwareText {
  name: string
  templateId: string
  container: ContainerText
  gpuId: string
  cloud: 'SECURE' | 'COMMUNITY'
  /** Whether any CUDA version is accepted, even if the template lists some. */
  isAnyCuda: boolean
  /** Comma-separated ids in order of preference; empty: any data center. */
  dataCenters: string
  persistentGb: string
  networkVolumeId: string
  globalVolumeId: string
  mountPath: string
  globalNetworking: boolean
  startSsh: boolean
  stopAfterHours: string
  idleStopMinutes: string
  /** `key=value`, comma-separated. */
  labels: string
}

export const EMPTY_POD: PodText = {
  name: '',
  templateId: '',
  container: EMPTY_CONTAINER,
  kind: 'gpu',
  gpuId: '',
  gpuCount: String(POD_DEFAULTS.gpuCount),
  cloud: POD_DEFAULTS.cloud,
  isAnyCuda: false,
  cpuId: '',
  vcpuCount: String(PROPOSED.vcpuCount),
  dataCenters: '',
  persistentGb: '',
  networkVolumeId: '',
  globalVolumeId: '',
  mountPath: PROPOSED.mountPath,
  globalNetworking: POD_DEFAULTS.globalNetworking,
  startSsh: PROPOSED.startSsh,
  stopAfterHours: '',
  idleStopMinutes: '',
  labels: '',
}

/** Request body of the form; empty fields are left out. */
export function podBody(text: PodText, nowMs: number): CreatePodRequest {
  return {
    name: text.name,
    ...containerBody(text.container),
    ...hardware(text),
    ...(text.templateId !== '' && { templateId: text.templateId }),
    ...(text.dataCenters !== '' && { dataCenterIds: readNames(text.dataCenters) }),
    ...mounts(text),
    ...(text.globalNetworking !== POD_DEFAULTS.globalNetworking && { globalNetworking: text.globalNetworking }),
    ...(text.startSsh && { startSsh: true }),
    ...(text.stopAfterHours !== '' && { stopAfter: deadlineAt(text.stopAfterHours, nowMs) }),
    ...(text.idleStopMinutes !== '' && { idleStop: { afterSeconds: Number(text.idleStopMinutes) * 60 } }),
    ...(text.labels !== '' && { labels: readLabels(text.labels) }),
  }
}

/** Request body of the dry run: deadlines and labels are left out and the name has a placeholder, since they do not affect placement. */
export function askedBody(text: PodText): CreatePodRequest {
  return podBody({ ...text, name: text.name || 'pod', stopAfterHours: '', idleStopMinutes: '', labels: '' }, 0)
}

/** Reason why no preview can be requested yet; undefined if it can. */
export function missingOf({ container, templateId, kind, gpuId, cpuId }: PodText): string | undefined {
  if (kind === 'gpu' ? gpuId === '' : cpuId === '') return 'Choose the hardware.'
  return container.image === '' && templateId === '' ? 'Enter an image, or choose a template.' : undefined
}

function hardware({ kind, gpuId, gpuCount, cloud, isAnyCuda, cpuId, vcpuCount }: PodText): Pick<CreatePodRequest, 'gpu' | 'cpu' | 'cloud'> {
  if (kind === 'cpu') return { cpu: { id: cpuId, vcpuCount: readNumber(vcpuCount) ?? 0 } }
  const gpu = { id: gpuId, count: readNumber(gpuCount) ?? 0, ...(isAnyCuda && { allowedCudaVersions: [] }) }
  return { gpu, ...(cloud !== POD_DEFAULTS.cloud && { cloud }) }
}

function mounts({ kind, persistentGb, networkVolumeId, globalVolumeId, mountPath }: PodText): Pick<CreatePodRequest, 'mounts'> {
  const size = kind === 'gpu' ? readNumber(persistentGb) : undefined
  const all = {
    ...(size !== undefined && { persistent: { size, path: mountPath } }),
    ...(networkVolumeId !== '' && { network: [{ volumeId: networkVolumeId, path: mountPath }] }),
    ...(globalVolumeId !== '' && { global: [{ volumeId: globalVolumeId }] }),
  }
  return Object.keys(all).length === 0 ? {} : { mounts: all }
}

/** Form with an option of its dry run applied (UI-6). Fields that the option leaves out stay. */
export function withOption(text: PodText, { gpu, cpu, cloud, dataCenterIds, disk, mounts, globalNetworking }: CreatePodRequest): PodText {
  return {
    ...text,
    ...(gpu && { gpuId: gpu.id, gpuCount: String(gpu.count ?? text.gpuCount), isAnyCuda: gpu.allowedCudaVersions?.length === 0 }),
    ...(cpu && { cpuId: cpu.id, vcpuCount: String(cpu.vcpuCount) }),
    ...(cloud && { cloud }),
    ...(dataCenterIds && { dataCenters: dataCenterIds.join(',') }),
    ...(disk !== undefined && { container: { ...text.container, disk: String(disk) } }),
    ...(mounts?.persistent && { persistentGb: String(mounts.persistent.size) }),
    ...(globalNetworking !== undefined && { globalNetworking }),
  }
}
