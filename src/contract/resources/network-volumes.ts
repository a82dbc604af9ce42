import { z } from 'zod'
import { orChangePlan } from '../change-plan.ts'
import { VOLUME_TYPES } from '../enums.ts'
import { Name, ResourceId } from '../fields.ts'
import { UsedAt, UsedBytes } from './volume-use.ts'

/** Bounds of a network volume, GB (VOL-2). */
const MIN_VOLUME_GB = 10
const MAX_VOLUME_GB = 4096

export const VolumeType = z.enum(VOLUME_TYPES).meta({ id: 'VolumeType', example: 'STANDARD' })

const Size = z.number().int().min(MIN_VOLUME_GB).max(MAX_VOLUME_GB).meta({ description: 'GB.' })
const EXAMPLE = { name: 'datasets', size: 100, dataCenter: 'EU-RO-1', type: 'STANDARD' }

export const NetworkVolume = z
  .object({
    id: z.string(),
    name: z.string(),
    size: Size,
    dataCenter: z.string().meta({ description: 'Only pods and workers of this data center can mount it.' }),
    type: VolumeType,
    sizeEnforced: z
      .boolean()
      .meta({ description: 'Whether more than `size` is refused when it is written; else `size` is a reservation.' }),
    usedBytes: UsedBytes,
    usedAt: UsedAt,
  })
  .meta({
    id: 'NetworkVolume',
    description: 'Storage of a data center that outlives pods.',
    example: { id: '9x4m2p7v1k8h3d', ...EXAMPLE, sizeEnforced: true, usedBytes: 52_428_800, usedAt: '2026-06-01T12:00:00Z' },
  })
export type NetworkVolume = z.infer<typeof NetworkVolume>

export const NetworkVolumeOrChangePlan = orChangePlan('NetworkVolumeOrChangePlan', NetworkVolume)

export const CreateNetworkVolumeRequest = z
  .strictObject({
    name: Name.meta({ description: 'Need not be unique.' }),
    size: Size,
    dataCenter: ResourceId.meta({ description: 'A data center of the catalog, or one that a machine has joined.' }),
    type: VolumeType.optional().meta({ description: 'Without it the first type of the data center.' }),
  })
  .meta({ id: 'CreateNetworkVolumeRequest', example: EXAMPLE })
export type CreateNetworkVolumeRequest = z.infer<typeof CreateNetworkVolumeRequest>

export const UpdateNetworkVolumeRequest = z
  .strictObject({ name: Name.optional(), size: Size.optional().meta({ description: 'GB; it can only grow.' }) })
  .refine((body) => Object.keys(body).length > 0, { error: 'minProperties: got 0, want 1' })
  .meta({ id: 'UpdateNetworkVolumeRequest', minProperties: 1, example: { size: 200 } })
export type UpdateNetworkVolumeRequest = z.infer<typeof UpdateNetworkVolumeRequest>

/** One page without a cursor: the number of volumes is bounded (PAG-5). */
export const ListNetworkVolumesResponse = z
  .object({ networkVolumes: z.array(NetworkVolume) })
  .meta({ id: 'ListNetworkVolumesResponse', example: { networkVolumes: [] } })
