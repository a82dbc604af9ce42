import type { Cluster } from '../../contract/clusters/clusters.ts'
import { DEFAULT_MOUNT_PATH, persistentOf } from '../flat/container.ts'
import { type ContainerInput, containerBody, type DeployInput } from './pod-inputs.ts'
import { given } from './values.ts'

/** The input of a new cluster. */
export interface ClusterInput
  extends Omit<ContainerInput, 'name' | 'containerRegistryAuthId'>,
    Pick<DeployInput, 'gpuTypeId' | 'templateId' | 'networkVolumeId' | 'dataCenterIds' | 'startSsh'> {
  clusterName?: string | null
  podCount?: number | null
  gpuCountPerPod?: number | null
  type?: string | null
}

/** The v2 body of a new cluster (GQL-41). The caller checks it as v2 does. */
export function clusterBody(input: ClusterInput): Record<string, unknown> {
  const { clusterName, gpuTypeId, podCount, gpuCountPerPod, type, templateId, networkVolumeId, volumeInGb, startSsh } = input
  const path = given(input.volumeMountPath) ?? DEFAULT_MOUNT_PATH
  const persistent = persistentOf(volumeInGb ?? 0, path)
  const places = (input.dataCenterIds ?? []).flatMap((id) => (id ? [id] : []))
  return {
    ...containerBody(input),
    name: clusterName ?? '',
    type: type ?? '',
    compute: { gpuTypeId: gpuTypeId ?? '', gpuCountPerPod: gpuCountPerPod ?? 1, podCount: podCount ?? 0 },
    ...(templateId && { templateId }),
    ...(places.length > 0 && { dataCenterIds: places }),
    ...(networkVolumeId ? { mounts: { network: [{ volumeId: networkVolumeId, path }] } } : persistent && { mounts: { persistent } }),
    ...(typeof startSsh === 'boolean' && { startSsh }),
  }
}

/** A cluster as GraphQL shows it. */
export function flatCluster({ id, name, type, compute, createdAt }: Cluster) {
  return { id, name, type, ...compute, createdAt }
}
export type FlatCluster = ReturnType<typeof flatCluster>
