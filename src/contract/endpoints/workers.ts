import { z } from 'zod'
import { WORKER_STATUSES } from '../enums.ts'
import { Timestamp } from '../fields.ts'

export const WorkerStatus = z
  .enum(WORKER_STATUSES)
  .meta({ id: 'WorkerStatus', description: 'THROTTLED: no host has capacity for it.', example: 'RUNNING' })

const Count = z.number().int().min(0)

const WORKER = {
  id: 'z3jr9rv2k3tt2y',
  status: 'RUNNING',
  isStale: false,
  version: 3,
  gpuCount: 1,
  image: 'registry.example.com/image-generator:1',
  uptimeSeconds: 420,
  gpuTypeId: 'NVIDIA GeForce RTX 4090',
  dataCenterId: 'US-KS-2',
  startedAt: '2026-06-01T12:00:00Z',
  reason: null,
}

/** A worker of an endpoint (SCALE-7, END-13). */
export const EndpointWorker = z
  .object({
    id: z.string(),
    status: WorkerStatus,
    isStale: z.boolean().meta({ description: 'It runs another release than `endpointVersion`.' }),
    version: z.number().int().nullable(),
    gpuCount: Count,
    image: z.string().nullable(),
    uptimeSeconds: Count.nullable().meta({ description: 'Seconds since its container started.' }),
    gpuTypeId: z.string().nullable(),
    dataCenterId: z.string().nullable(),
    startedAt: Timestamp.nullable(),
    reason: z.string().nullable().meta({ description: 'The problem of the worker, if there is one.' }),
  })
  .meta({
    id: 'EndpointWorker',
    example: WORKER,
  })
export type EndpointWorker = z.infer<typeof EndpointWorker>

const SUMMARY = { running: 1, idle: 0, initializing: 0, throttled: 0, unhealthy: 0, total: 1 }

export const WorkerSummary = z
  .object({ running: Count, idle: Count, initializing: Count, throttled: Count, unhealthy: Count, total: Count })
  .meta({ id: 'WorkerSummary', example: SUMMARY })
export type WorkerSummary = z.infer<typeof WorkerSummary>

export const ListWorkersResponse = z
  .object({ workers: z.array(EndpointWorker), summary: WorkerSummary, endpointVersion: z.number().int() })
  .meta({ id: 'ListWorkersResponse', example: { workers: [WORKER], summary: SUMMARY, endpointVersion: 3 } })
export type ListWorkersResponse = z.infer<typeof ListWorkersResponse>
