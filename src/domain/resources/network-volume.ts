import type { VolumeType } from '../../contract/enums.ts'
import { type Refusal, refused } from '../../contract/problems.ts'
import type { CreateNetworkVolumeRequest, UpdateNetworkVolumeRequest } from '../../contract/resources/network-volumes.ts'
import type { DataCenter } from '../catalog/data-centers.ts'

/** A network volume as it is stored (VOL-1). */
export interface NetworkVolumeRecord {
  id: string
  teamId: string
  name: string
  sizeGb: number
  dataCenterId: string
  type: VolumeType
}

/** A valid volume, or its refusal. */
export type VolumeResult = { ok: true; volume: NetworkVolumeRecord } | { ok: false; problem: Refusal }

/** Volume that a create body requests, or why it is refused (VOL-2). `dataCenter` is null when the requested one does not exist. */
export function createNetworkVolume(
  body: CreateNetworkVolumeRequest,
  ids: { id: string; teamId: string },
  dataCenter: DataCenter | null,
): VolumeResult {
  if (!dataCenter) return refused(`dataCenter: data center ${body.dataCenter} not found`)
  const type = body.type ?? dataCenter.networkVolumeTypes[0]
  if (type === undefined) return refused(`dataCenter: data center ${dataCenter.id} has no network volumes`)
  if (!dataCenter.networkVolumeTypes.includes(type)) {
    return refused(`type: data center ${dataCenter.id} has no ${type} volumes, only ${dataCenter.networkVolumeTypes.join(', ')}`)
  }
  return { ok: true, volume: { ...ids, name: body.name, sizeGb: body.size, dataCenterId: dataCenter.id, type } }
}

/** Volume after a PATCH (VOL-3), which can rename and grow it, but not shrink it. */
export function patchNetworkVolume(volume: NetworkVolumeRecord, patch: UpdateNetworkVolumeRequest): VolumeResult {
  const sizeGb = patch.size ?? volume.sizeGb
  if (sizeGb < volume.sizeGb) return refused(`size: a network volume cannot shrink; it has ${volume.sizeGb} GB`)
  return { ok: true, volume: { ...volume, name: patch.name ?? volume.name, sizeGb } }
}
