import { z } from 'zod'
import { Name, Timestamp } from '../fields.ts'
import { UsedAt, UsedBytes } from './volume-use.ts'

export const GlobalVolume = z
  .object({ id: z.string(), name: z.string(), createdAt: Timestamp, usedBytes: UsedBytes, usedAt: UsedAt })
  .meta({
    id: 'GlobalVolume',
    description: 'Storage that every data center can mount; neither size nor place, billed by use.',
    example: { id: '3h8k1v7p2m4x9d', name: 'models', createdAt: '2026-06-01T12:00:00Z', usedBytes: null, usedAt: null },
  })
export type GlobalVolume = z.infer<typeof GlobalVolume>

const NameOnly = { name: Name.meta({ description: 'Unique in the account.' }) }

export const CreateGlobalVolumeRequest = z.strictObject(NameOnly).meta({ id: 'CreateGlobalVolumeRequest', example: { name: 'models' } })
export type CreateGlobalVolumeRequest = z.infer<typeof CreateGlobalVolumeRequest>

export const UpdateGlobalVolumeRequest = z
  .strictObject(NameOnly)
  .meta({ id: 'UpdateGlobalVolumeRequest', example: { name: 'checkpoints' } })
export type UpdateGlobalVolumeRequest = z.infer<typeof UpdateGlobalVolumeRequest>

/** One page without a cursor: the number of volumes is bounded (PAG-5). */
export const ListGlobalVolumesResponse = z
  .object({ globalVolumes: z.array(GlobalVolume) })
  .meta({ id: 'ListGlobalVolumesResponse', example: { globalVolumes: [] } })
