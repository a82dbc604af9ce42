import { z } from 'zod'
import { containerRequestFields, containerResponseFields } from './container.ts'
import {
  CpuConfig,
  CpuOptions,
  CreateEndpointGpuConfig,
  EndpointGpuConfig,
  EndpointScaling,
  EndpointType,
  EndpointWorkers,
  EndpointWorkersView,
  FlashBoot,
  FlashBootRequest,
  ResultRetention,
  UpdateEndpointGpuConfig,
} from './endpoint-parts.ts'
import { DataCenterId, Name, ResourceId, Timestamp } from './fields.ts'
import { Pagination } from './pagination.ts'

/** Bounds of an execution timeout, milliseconds: 5 seconds to 7 days (TMO-2). */
export const MIN_TIMEOUT_MS = 5_000
export const MAX_TIMEOUT_MS = 7 * 24 * 3600 * 1000

const sharedRequestFields = {
  ...containerRequestFields,
  cpu: CpuOptions.optional(),
  dataCenterIds: z.array(DataCenterId).optional().meta({ description: 'Where workers may run; empty for anywhere.' }),
  flashboot: FlashBootRequest.optional(),
  networkVolumes: z.array(ResourceId).optional().meta({ description: 'Ids of network volumes.' }),
  scaling: EndpointScaling.optional(),
  timeout: z
    .number()
    .int()
    .min(MIN_TIMEOUT_MS)
    .max(MAX_TIMEOUT_MS)
    .optional()
    .meta({ description: 'Default execution timeout of a job, milliseconds; 600000 by default.' }),
  resultRetention: ResultRetention.optional(),
  type: EndpointType.optional(),
  workers: EndpointWorkers.optional(),
}

export const CreateEndpointRequest = z
  .strictObject({
    ...sharedRequestFields,
    gpu: CreateEndpointGpuConfig.optional(),
    name: Name.optional().meta({ description: 'Required unless `templateId` is set, whose name is then the default.' }),
    templateId: ResourceId.optional().meta({ description: 'A serverless template that fills what the body leaves out.' }),
  })
  .meta({
    id: 'CreateEndpointRequest',
    description: 'Exactly one of `gpu` and `cpu`; `image` unless `templateId` is set.',
    example: {
      name: 'image-generator',
      image: 'registry.example.com/image-generator:1',
      gpu: { pools: ['ADA_24'], count: 1 },
      workers: { min: 0, max: 5, idleTimeout: 5 },
      scaling: { type: 'QUEUE_DELAY', queueDelay: 4 },
      dataCenterIds: ['US-KS-2'],
      timeout: 300000,
    },
  })
export type CreateEndpointRequest = z.infer<typeof CreateEndpointRequest>

export const UpdateEndpointRequest = z
  .strictObject({
    ...sharedRequestFields,
    gpu: UpdateEndpointGpuConfig.optional(),
    name: Name.optional(),
    templateId: z.string().optional().meta({ description: 'Applied once, as on create.' }),
  })
  .meta({
    id: 'UpdateEndpointRequest',
    description: 'What is left out stays as it is (STRICT-3). A change of the container or its placement makes a new release.',
    example: { workers: { max: 10 }, env: { MODEL: 'small' } },
  })
export type UpdateEndpointRequest = z.infer<typeof UpdateEndpointRequest>

const url = z.string().meta({ format: 'uri' })

const QueueBasedRequestUrls = z
  .object({
    run: url,
    runSync: url,
    status: url,
    stream: url,
    cancel: url,
    retry: url,
    purgeQueue: url,
    health: url,
  })
  .meta({
    id: 'QueueBasedRequestUrls',
    description: 'Where jobs are sent. `{job_id}` stands for the id of a job and stays literal here.',
    example: {
      run: 'https://api.example.com/v2/4k8h2m9x7q1w3e/run',
      runSync: 'https://api.example.com/v2/4k8h2m9x7q1w3e/runsync',
      status: 'https://api.example.com/v2/4k8h2m9x7q1w3e/status/{job_id}',
      stream: 'https://api.example.com/v2/4k8h2m9x7q1w3e/stream/{job_id}',
      cancel: 'https://api.example.com/v2/4k8h2m9x7q1w3e/cancel/{job_id}',
      retry: 'https://api.example.com/v2/4k8h2m9x7q1w3e/retry/{job_id}',
      purgeQueue: 'https://api.example.com/v2/4k8h2m9x7q1w3e/purge-queue',
      health: 'https://api.example.com/v2/4k8h2m9x7q1w3e/health',
    },
  })

export const Endpoint = z
  .object({
    id: z.string(),
    name: z.string(),
    type: EndpointType,
    requestUrls: QueueBasedRequestUrls,
    ...containerResponseFields,
    // A named schema that may be null is written as a union: `.nullable()` would make the shared component itself nullable.
    gpu: z.union([EndpointGpuConfig, z.null()]).meta({ description: 'Null on CPU endpoints.' }),
    cpu: z.array(CpuConfig).optional().meta({ description: 'Only on CPU endpoints.' }),
    workers: EndpointWorkersView,
    scaling: EndpointScaling,
    dataCenterIds: z.array(z.string()),
    networkVolumes: z.array(z.string()),
    timeout: z.number().int(),
    resultRetention: ResultRetention.optional().meta({ description: 'Only when it differs from the default.' }),
    flashboot: FlashBoot,
    createdAt: Timestamp,
  })
  .meta({ id: 'Endpoint', description: 'A Serverless endpoint.' })
export type Endpoint = z.infer<typeof Endpoint>

export const ListEndpointsResponse = z
  .object({ endpoints: z.array(Endpoint), pagination: Pagination })
  .meta({ id: 'ListEndpointsResponse', example: { endpoints: [], pagination: { nextCursor: null, hasNextPage: false } } })
