import { z } from 'zod'
import { ListedSpend } from '../billing/listed-spend.ts'
import { orChangePlan } from '../change-plan.ts'
import { ENDPOINT_DEFAULTS } from '../defaults.ts'
import { DataCenterIds, Name, ResourceId, Timestamp, wholeNumber } from '../fields.ts'
import { countsField } from '../list-query.ts'
import { Pagination } from '../pagination.ts'
import { containerRequestFields, containerResponseFields } from '../pods/container.ts'
import {
  CpuConfig,
  CpuOptions,
  CreateEndpointGpuConfig,
  CreateEndpointWorkers,
  CreateResultRetention,
  EndpointCloud,
  EndpointGpuConfig,
  EndpointScaling,
  EndpointType,
  EndpointWorkersView,
  FlashBoot,
  FlashBootRequest,
  ResultRetention,
  UpdateEndpointGpuConfig,
  UpdateEndpointWorkers,
} from './endpoint-parts.ts'

/** Bounds of an execution timeout, milliseconds: 5 seconds to 7 days (TMO-2). */
export const MIN_TIMEOUT_MS = 5_000
export const MAX_TIMEOUT_MS = 7 * 24 * 3600 * 1000

/** Most volumes of an endpoint: at most one for each data center. */
const MAX_VOLUMES = 64

const sharedRequestFields = {
  ...containerRequestFields,
  cpu: CpuOptions.optional(),
  dataCenterIds: DataCenterIds.optional().meta({ description: 'Data centers in which workers may run; empty for any.' }),
  networkVolumes: z.array(ResourceId).max(MAX_VOLUMES).optional().meta({
    description:
      'Ids of network volumes, at most one for each data center. Workers run in the data center of a volume, mounted at /runpod-volume.',
  }),
}
const Timeout = z.number().int().min(MIN_TIMEOUT_MS).max(MAX_TIMEOUT_MS)
const TIMEOUT_TEXT = 'Execution timeout in milliseconds of a job without its own.'

/** A sentence instead of a `default`: Go has no literal for a default that is an object (DOC-1). */
const SCALING_TEXT = `Default: ${ENDPOINT_DEFAULTS.scaling.type} with a \`queueDelay\` of ${ENDPOINT_DEFAULTS.scaling.queueDelay} seconds.`

export const CreateEndpointRequest = z
  .strictObject({
    ...sharedRequestFields,
    cloud: EndpointCloud.optional().meta({ default: ENDPOINT_DEFAULTS.cloud }),
    flashboot: FlashBootRequest.optional().meta({ default: ENDPOINT_DEFAULTS.flashboot }),
    gpu: CreateEndpointGpuConfig.optional(),
    name: Name.optional().meta({ description: 'Required unless `templateId` is set, whose name is then the default.' }),
    resultRetention: CreateResultRetention.optional(),
    scaling: EndpointScaling.optional().meta({ description: SCALING_TEXT }),
    templateId: ResourceId.optional().meta({ description: 'A serverless template for members that the body omits.' }),
    timeout: Timeout.optional().meta({ description: TIMEOUT_TEXT, default: ENDPOINT_DEFAULTS.timeout }),
    type: EndpointType.optional().meta({ default: ENDPOINT_DEFAULTS.type }),
    workers: CreateEndpointWorkers.optional(),
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
    cloud: EndpointCloud.optional(),
    flashboot: FlashBootRequest.optional(),
    gpu: UpdateEndpointGpuConfig.optional(),
    name: Name.optional(),
    resultRetention: ResultRetention.optional(),
    scaling: EndpointScaling.optional(),
    templateId: z.string().optional().meta({ description: 'Applied once, as at creation.' }),
    timeout: Timeout.optional().meta({ description: TIMEOUT_TEXT }),
    type: EndpointType.optional(),
    workers: UpdateEndpointWorkers.optional(),
  })
  .meta({
    id: 'UpdateEndpointRequest',
    description: 'Omitted members stay unchanged (STRICT-3). A change of the container or its placement creates a new release.',
    example: { workers: { max: 10 }, env: { MODEL: 'small' } },
  })
export type UpdateEndpointRequest = z.infer<typeof UpdateEndpointRequest>

const url = z.string().meta({ format: 'uri' })
/** A URI template; it becomes a URL with the id of a job. */
const jobUrl = z.string().meta({ format: 'uri-template' })

const QUEUE_URLS = {
  run: 'https://api.example.com/v2/4k8h2m9x7q1w3e/run',
  runSync: 'https://api.example.com/v2/4k8h2m9x7q1w3e/runsync',
  status: 'https://api.example.com/v2/4k8h2m9x7q1w3e/status/{job_id}',
  stream: 'https://api.example.com/v2/4k8h2m9x7q1w3e/stream/{job_id}',
  cancel: 'https://api.example.com/v2/4k8h2m9x7q1w3e/cancel/{job_id}',
  retry: 'https://api.example.com/v2/4k8h2m9x7q1w3e/retry/{job_id}',
  purgeQueue: 'https://api.example.com/v2/4k8h2m9x7q1w3e/purge-queue',
  health: 'https://api.example.com/v2/4k8h2m9x7q1w3e/health',
}

const QueueBasedRequestUrls = z
  .strictObject({
    run: url,
    runSync: url,
    status: jobUrl,
    stream: jobUrl,
    cancel: jobUrl,
    retry: jobUrl,
    purgeQueue: url,
    health: url,
  })
  .meta({
    id: 'QueueBasedRequestUrls',
    description: 'The URLs for jobs. `{job_id}` is a placeholder for the id of a job.',
    example: QUEUE_URLS,
  })

const LoadBalancingRequestUrls = z
  .strictObject({
    base: url.meta({ description: 'Base URL: requests below it go to a worker, with path and query.' }),
    health: url.meta({ description: 'The health check path of a worker.' }),
  })
  .meta({
    id: 'LoadBalancingRequestUrls',
    description: 'The URLs for requests.',
    example: { base: 'https://4k8h2m9x7q1w3e.lb.example.com', health: 'https://4k8h2m9x7q1w3e.lb.example.com/ping' },
  })

export const Endpoint = z
  .object({
    id: z.string(),
    name: z.string(),
    type: EndpointType,
    requestUrls: z.union([QueueBasedRequestUrls, LoadBalancingRequestUrls]),
    ...containerResponseFields,
    // A nullable named schema is written as a union: `.nullable()` would make the shared component itself nullable.
    gpu: z.union([EndpointGpuConfig, z.null()]).meta({ description: 'Null on CPU endpoints.' }),
    cpu: z.array(CpuConfig).min(1).optional().meta({ description: 'Only on CPU endpoints.' }),
    workers: EndpointWorkersView,
    scaling: EndpointScaling,
    dataCenterIds: z.array(z.string()),
    cloud: EndpointCloud,
    networkVolumes: z.array(z.string()),
    timeout: wholeNumber(MIN_TIMEOUT_MS),
    resultRetention: ResultRetention.optional().meta({ description: 'Only when it differs from the default.' }),
    flashboot: FlashBoot,
    createdAt: Timestamp,
    spend: ListedSpend.optional(),
  })
  .meta({
    id: 'Endpoint',
    description: 'A Serverless endpoint.',
    example: {
      id: '4k8h2m9x7q1w3e',
      name: 'image-generator',
      type: 'QUEUE',
      requestUrls: QUEUE_URLS,
      args: '',
      cmd: [],
      entrypoint: [],
      disk: 20,
      env: { MODEL: 'large' },
      image: 'registry.example.com/image-generator:1',
      ports: [],
      registry: null,
      gpu: { pools: ['ADA_24'], excludedTypes: [], count: 1, allowedCudaVersions: [], minCudaVersion: null },
      workers: { min: 0, max: 3, idleTimeout: 5 },
      scaling: { type: 'QUEUE_DELAY', queueDelay: 4 },
      dataCenterIds: ['US-KS-2'],
      cloud: 'SECURE',
      networkVolumes: [],
      timeout: 600_000,
      flashboot: 'OFF',
      createdAt: '2026-06-01T12:00:00Z',
    },
  })
export type Endpoint = z.infer<typeof Endpoint>

/** Answer of a change: the endpoint, or with `dryRun` the plan (DRY-7). */
export const EndpointOrChangePlan = orChangePlan('EndpointOrChangePlan', Endpoint)

export const ListEndpointsResponse = z
  .object({ endpoints: z.array(Endpoint), pagination: Pagination, ...countsField })
  .meta({ id: 'ListEndpointsResponse', example: { endpoints: [], pagination: { nextCursor: null, hasNextPage: false } } })
