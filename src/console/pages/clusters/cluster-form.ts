import type { CreateClusterRequest } from '../../../contract/clusters/clusters.ts'
import { CLUSTER_DEFAULTS, PROPOSED } from '../../../contract/defaults.ts'
import { type ContainerText, containerBody, EMPTY_CONTAINER } from '../../parts/container/container-form.ts'
import { readNames, readNumber } from '../../parts/container/text-lists.ts'

/** Form of a new cluster, as text. */
export interface ClusterText {
  name: string
  type: CreateClusterRequest['type']
  templateId: string
  container: ContainerText
  gpuTypeId: string
  gpuCountPerPod: string
  podCount: string
  /** Comma-separated ids in order of preference; empty: any data center. */
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
  startSsh: PROPOSED.startSsh,
  isReplaced: false,
}

/** Request body of the form; empty fields are left out. */
export function clusterBody(text: ClusterText): CreateClusterRequest {
  // A cluster takes the credential of its image from its template, so the request has no `registry`.
  const { registry: _registry, ...container } = containerBody(text.container)
  return {
    name: text.name,
    type: text.type,
    compute: { gpuTypeId: text.gpuTypeId, gpuCountPerPod: readNumber(text.gpuCountPerPod) ?? 0, podCount: readNumber(text.podCount) ?? 0 },
    ...container,
    ...(text.templateId !== '' && { templateId: text.templateId }),
    ...(text.dataCenters !== '' && { dataCenterIds: readNames(text.dataCenters) }),
    ...(text.networkVolumeId !== '' && { mounts: { network: [{ volumeId: text.networkVolumeId, path: PROPOSED.mountPath }] } }),
    ...(text.startSsh !== CLUSTER_DEFAULTS.startSsh && { startSsh: text.startSsh }),
    ...(text.isReplaced && { onHostLoss: 'REPLACE' as const }),
  }
}

/** Reason why no preview can be requested yet; undefined if it can. */
export function missingOfCluster({ gpuTypeId, container, templateId }: ClusterText): string | undefined {
  if (gpuTypeId === '') return 'Choose the GPU type of the members.'
  return container.image === '' && templateId === '' ? 'Enter an image, or choose a template.' : undefined
}

/** Form with an option of its dry run applied (UI-6). Fields that the option leaves out stay. */
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
