import { z } from 'zod'
import { ENDPOINT_CLOUDS } from '../enums.ts'
import { Timestamp } from '../fields.ts'
import { PageQuery, Pagination } from '../pagination.ts'

const Count = z.number().int().min(0)

const WAITING = {
  endpointId: '4k8h2m9x7q1w3e',
  endpointName: 'chat',
  accountId: '1t5w8z3c6f9j2m',
  since: '2026-06-01T12:00:00Z',
  sinceMs: 95_000,
  needs: {
    gpuTypeIds: ['NVIDIA H200'],
    gpuCount: 2,
    vcpus: 4,
    memoryGb: 16,
    diskGb: 10,
    dataCenterIds: [],
    cloud: 'SECURE' as const,
  },
  hosts: { total: 4, fit: 0 },
  missing: [{ text: 'needs 2 free NVIDIA H200', hosts: 4 }],
}

export const WaitingEndpoint = z
  .object({
    endpointId: z.string(),
    endpointName: z.string(),
    accountId: z.string(),
    since: Timestamp.meta({ description: 'Since when a worker of the endpoint waits for a host.' }),
    sinceMs: Count,
    needs: z
      .object({
        gpuTypeIds: z.array(z.string()).meta({ description: 'Any of them; none for CPU workers.' }),
        gpuCount: Count,
        vcpus: z.number().min(0).meta({ description: 'Of its first choice.' }),
        memoryGb: z.number().min(0).meta({ description: 'Of its first choice.' }),
        diskGb: Count,
        dataCenterIds: z.array(z.string()).meta({ description: 'Empty: anywhere.' }),
        cloud: z.enum(ENDPOINT_CLOUDS),
      })
      .meta({ description: 'Requirements of one worker.' }),
    hosts: z.object({ total: Count, fit: Count.meta({ description: 'Hosts that could accept it now; the endpoint is being notified.' }) }),
    missing: z
      .array(z.object({ text: z.string(), hosts: Count.meta({ description: 'Hosts that lack it.' }) }))
      .meta({ description: 'Violated constraints, the most frequent first.' }),
  })
  .meta({ id: 'WaitingEndpoint', description: 'An endpoint whose worker waits for a host.', example: WAITING })
export type WaitingEndpoint = z.infer<typeof WaitingEndpoint>

export const ListWaitingQuery = PageQuery
export type ListWaitingQuery = z.infer<typeof ListWaitingQuery>

export const ListWaitingResponse = z
  .object({ waiting: z.array(WaitingEndpoint), pagination: Pagination })
  .meta({ id: 'ListWaitingResponse', example: { waiting: [WAITING], pagination: { nextCursor: null, hasNextPage: false } } })
export type ListWaitingResponse = z.infer<typeof ListWaitingResponse>
