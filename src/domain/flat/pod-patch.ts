import type { FlatPodPatch } from '../../contract/flat/bodies.ts'
import type { Pod, UpdatePodRequest } from '../../contract/pods/pods.ts'
import { containerOf, persistentOf } from './container.ts'

/** Whether an update with flat fields needs the pod's present mounts. */
export function needsMounts(body: FlatPodPatch): boolean {
  return body.volumeInGb !== undefined || body.volumeMountPath !== undefined
}

/** v2 body for an update with flat fields. `mounts`: the pod's present mounts, if `needsMounts`. */
export function podPatch(body: FlatPodPatch, mounts: Pod['mounts']): UpdatePodRequest {
  const { name, locked, globalNetworking, volumeInGb, volumeMountPath } = body
  const { persistent, network } = mounts
  const size = volumeInGb ?? persistent?.size ?? 0
  const changed =
    network?.[0] && volumeMountPath !== undefined
      ? { network: [{ volumeId: network[0].volumeId, path: volumeMountPath }] }
      : { persistent: persistentOf(size, volumeMountPath ?? persistent?.path) }
  return {
    ...containerOf(body),
    ...(name !== undefined && { name }),
    ...(locked !== undefined && { locked }),
    ...(globalNetworking !== undefined && { globalNetworking }),
    ...(needsMounts(body) && Object.values(changed).some(Boolean) && { mounts: JSON.parse(JSON.stringify(changed)) }),
  }
}
