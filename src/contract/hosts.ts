import { z } from 'zod'
import { DataCenterId, Name, Timestamp } from './fields.ts'

/** Data center of a machine whose operator names none. */
export const DEFAULT_DATA_CENTER_ID = 'LOCAL-1'
export const JOIN_TOKEN_TTL_MS = 30 * 60 * 1000

export const CreateJoinTokenRequest = z
  .strictObject({
    dataCenterId: DataCenterId.optional().meta({ description: '`LOCAL-1` by default.' }),
    name: Name.max(128).optional().meta({ description: 'Replaces the name that the machine gives itself.' }),
  })
  .meta({ id: 'CreateJoinTokenRequest', example: { dataCenterId: 'EU-RO-1', name: 'gpu-07' } })
export type CreateJoinTokenRequest = z.infer<typeof CreateJoinTokenRequest>

export const JoinToken = z
  .object({ token: z.string().meta({ description: 'Lets one machine join, once.' }), expiresAt: Timestamp })
  .meta({ id: 'JoinToken', example: { token: 'ppj_<random>', expiresAt: '2026-06-01T12:30:00Z' } })

const Amount = z.object({ total: z.number(), free: z.number() }).meta({ id: 'HostAmount', example: { total: 16, free: 8 } })

export const HostGpu = z
  .object({
    typeId: z.string(),
    total: z.number().int(),
    free: z.number().int(),
    simulated: z.boolean(),
    cudaVersion: z.string().nullable(),
  })
  .meta({ id: 'HostGpu', example: { typeId: 'NVIDIA L4', total: 2, free: 1, simulated: false, cudaVersion: '12.8' } })

export const Host = z
  .object({
    id: z.string(),
    name: z.string(),
    dataCenterId: z.string(),
    status: z.enum(['ONLINE', 'OFFLINE']),
    simulated: z.boolean().meta({ description: 'True when any capacity of the host is simulated.' }),
    gpus: z.array(HostGpu),
    vcpu: Amount,
    memoryGb: Amount,
    diskGb: Amount,
    runtimes: z.array(z.string()),
    createdAt: Timestamp,
    lastSeenAt: Timestamp.nullable(),
  })
  .meta({ id: 'Host', description: 'A machine that offers capacity.' })
export type Host = z.infer<typeof Host>

export const ListHostsResponse = z.object({ hosts: z.array(Host) }).meta({ id: 'ListHostsResponse', example: { hosts: [] } })
