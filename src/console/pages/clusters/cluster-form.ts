import type { CreateClusterRequest } from '../../../contract/clusters/clusters.ts'
import { type ContainerText, containerBody, EMPTY_CONTAINER } from '../../parts/container/container-form.ts'
import { readNames, readNumber } from '../../parts/container/text-lists.ts'

/** A cluster that is about to be made, as one types it. */
export interface ClusterText {
  name: string
  type: CreateClusterRequest['type']
  templateId: string
  container: ContainerText
  gpuTypeId: string
  gpuCountPerPod: string
  podCount: string
  /** Ids with commas between them, in the order in which they are tried; empty: anywhere. */
  dataCenters: string
  networkVolumeId: string
  startSsh: boolean
  isReplaced: boolean
}

export const EMPTY_CLUSTER: ClusterText = {
  name: '',
  type: 'TRAINING',
  templateId: '',
  container: EMPTY_CONTAINER,
  gpuTypeId: '',
  gpuCountPerPod: '1',
  podCount: '2',
  dataCenters: '',
  networkVolumeId: '',
  startSsh: true,
  isReplaced: false,
}

/** The request that the form stands for: what is empty is left out. */
export function clusterBody(text: ClusterText): CreateClusterRequest {
  // The credential of a cluster's image is that of its template.
  const { registry: _registry, ...container } = containerBody(text.container)
  return {
    name: text.name,
    type: text.type,
    compute: { gpuTypeId: text.gpuTypeId, gpuCountPerPod: readNumber(text.gpuCountPerPod) ?? 0, podCount: readNumber(text.podCount) ?? 0 },
    ...container,
    ...(text.templateId !== '' && { templateId: text.templateId }),
    ...(text.dataCenters !== '' && { dataCenterIds: readNames(text.dataCenters) }),
    ...(text.networkVolumeId !== '' && { mounts: { network: [{ volumeId: text.networkVolumeId, path: '/workspace' }] } }),
    ...(text.startSsh && { startSsh: true }),
    ...(text.isReplaced && { onHostLoss: 'REPLACE' as const }),
  }
}

/** Why nothing can be asked yet. */
export function missingOfCluster({ gpuTypeId, container, templateId }: ClusterText): string | undefined {
  if (gpuTypeId === '') return 'Choose the GPU type of its members first.'
  return container.image === '' && templateId === '' ? 'Say which image they run, or choose a template.' : undefined
}

/** The form as it would be typed for an option of its dry run (UI-6). An option leaves out what it does not change. */
export function withClusterOption(text: ClusterText, { compute, dataCenterIds, disk }: CreateClusterRequest): ClusterText {
  return {
    ...text,
    gpuTypeId: compute.gpuTypeId,
    gpuCountPerPod: String(compute.gpuCountPerPod),
    podCount: String(compute.podCount),
    ...(dataCenterIds && { dataCenters: dataCenterIds.join(',') }),
    ...(disk !== undefined && { container: { ...text.container, disk: String(disk) } }),
  }
}
