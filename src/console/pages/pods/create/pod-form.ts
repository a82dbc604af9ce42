import type { CreatePodRequest } from '../../../../contract/pods/pods.ts'
import { type ContainerText, containerBody, EMPTY_CONTAINER } from '../../../parts/container/container-form.ts'
import { readNames, readNumber } from '../../../parts/container/text-lists.ts'
import type { HardwareText } from '../../../parts/hardware/hardware.tsx'
import { deadlineAt } from '../deadline.ts'

/** A pod that is about to be made, as one types it. */
export interface PodText extends HardwareText {
  name: string
  templateId: string
  container: ContainerText
  gpuId: string
  cloud: 'SECURE' | 'COMMUNITY'
  /** Also where the template asks for certain ones. */
  isAnyCuda: boolean
  /** Ids with commas between them, in the order in which they are tried; empty: anywhere. */
  dataCenters: string
  persistentGb: string
  networkVolumeId: string
  globalVolumeId: string
  mountPath: string
  globalNetworking: boolean
  startSsh: boolean
  stopAfterHours: string
  idleStopMinutes: string
}

export const EMPTY_POD: PodText = {
  name: '',
  templateId: '',
  container: EMPTY_CONTAINER,
  kind: 'gpu',
  gpuId: '',
  gpuCount: '1',
  cloud: 'SECURE',
  isAnyCuda: false,
  cpuId: '',
  vcpuCount: '2',
  dataCenters: '',
  persistentGb: '',
  networkVolumeId: '',
  globalVolumeId: '',
  mountPath: '/workspace',
  globalNetworking: false,
  startSsh: true,
  stopAfterHours: '',
  idleStopMinutes: '',
}

/** The request that the form stands for: what is empty is left out. */
export function podBody(text: PodText, nowMs: number): CreatePodRequest {
  return {
    name: text.name,
    ...containerBody(text.container),
    ...hardware(text),
    ...(text.templateId !== '' && { templateId: text.templateId }),
    ...(text.dataCenters !== '' && { dataCenterIds: readNames(text.dataCenters) }),
    ...mounts(text),
    ...(text.globalNetworking && { globalNetworking: true }),
    ...(text.startSsh && { startSsh: true }),
    ...(text.stopAfterHours !== '' && { stopAfter: deadlineAt(text.stopAfterHours, nowMs) }),
    ...(text.idleStopMinutes !== '' && { idleStop: { afterSeconds: Number(text.idleStopMinutes) * 60 } }),
  }
}

/** What is asked while one types: where it would go does not depend on its name or on when it ends. */
export function askedBody(text: PodText): CreatePodRequest {
  return podBody({ ...text, name: text.name || 'pod', stopAfterHours: '', idleStopMinutes: '' }, 0)
}

/** Why nothing can be asked yet. */
export function missingOf({ container, templateId, kind, gpuId, cpuId }: PodText): string | undefined {
  if (kind === 'gpu' ? gpuId === '' : cpuId === '') return 'Choose what it runs on first.'
  return container.image === '' && templateId === '' ? 'Say which image it runs, or choose a template.' : undefined
}

function hardware({ kind, gpuId, gpuCount, cloud, isAnyCuda, cpuId, vcpuCount }: PodText): Pick<CreatePodRequest, 'gpu' | 'cpu' | 'cloud'> {
  if (kind === 'cpu') return { cpu: { id: cpuId, vcpuCount: readNumber(vcpuCount) ?? 0 } }
  const gpu = { id: gpuId, count: readNumber(gpuCount) ?? 0, ...(isAnyCuda && { allowedCudaVersions: [] }) }
  return { gpu, ...(cloud === 'COMMUNITY' && { cloud }) }
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

/** The form as it would be typed for an option of its dry run (UI-6). An option leaves out what it does not change. */
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
