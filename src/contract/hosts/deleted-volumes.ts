import { z } from 'zod'
import { Timestamp } from '../fields.ts'

export const DeletedVolume = z
  .object({
    id: z.string(),
    kind: z.enum(['network', 'global']),
    teamId: z.string(),
    dataCenterId: z.string().nullable().meta({ description: 'Null for a global volume.' }),
    size: z.number().int().nullable().meta({ description: 'GB; null for a global volume.' }),
    deletedAt: Timestamp,
    wipedAt: Timestamp.nullable().meta({ description: 'When its data was wiped; null: no host has confirmed that yet.' }),
  })
  .meta({
    id: 'DeletedVolume',
    example: {
      id: '9x4m2p7v1k8h3d',
      kind: 'network',
      teamId: 'n2k8h4m9x7q1w3',
      dataCenterId: 'EU-RO-1',
      size: 100,
      deletedAt: '2026-06-01T12:00:00Z',
      wipedAt: null,
    },
  })
export type DeletedVolume = z.infer<typeof DeletedVolume>

export const ListDeletedVolumesResponse = z
  .object({ volumes: z.array(DeletedVolume) })
  .meta({ id: 'ListDeletedVolumesResponse', example: { volumes: [] } })
