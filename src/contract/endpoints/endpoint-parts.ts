import { z } from 'zod'
import { ENDPOINT_DEFAULTS, RETENTION_DEFAULTS } from '../defaults.ts'
import { ENDPOINT_CLOUDS, FLASHBOOTS } from '../enums.ts'
import { CUDA_VERSION, CudaVersion, CudaVersions, PLAIN_TEXT, ResourceId, wholeNumber } from '../fields.ts'
import { form } from '../forms.ts'

/** Most workers of one endpoint: a bound, so that a typing error cannot request a million machines. */
export const MAX_WORKERS = 1000
/** Longest idle timeout of a worker. */
export const MAX_IDLE_TIMEOUT_SECONDS = 3600

export const EndpointType = z
  .enum(['QUEUE', 'LOAD_BALANCER'])
  .meta({ id: 'EndpointType', description: 'How requests reach the workers.', example: 'QUEUE' })

export const EndpointCloud = z
  .enum(ENDPOINT_CLOUDS)
  .meta({ id: 'EndpointCloud', description: 'Hardware of data centers, of the community, or both.', example: 'SECURE' })

export const FlashBoot = z.enum(FLASHBOOTS).meta({ id: 'FlashBoot', example: 'OFF' })

/** END-7: older clients send a boolean, which means FLASHBOOT or OFF. */
export const FlashBootRequest = z.union([FlashBoot, z.boolean()]).meta({
  // The document lists only the values: generated clients do not compile with a default beside a union (DOC-1).
  type: 'string',
  enum: [...FLASHBOOTS],
  'x-component': 'FlashBoot',
  description: 'A boolean is accepted as FLASHBOOT (true) or OFF (false).',
})

const WorkerCount = z.number().int().min(0).max(MAX_WORKERS)
const MIN_WORKERS_TEXT = 'Minimum number of workers, even without jobs.'
const MAX_WORKERS_TEXT = 'Maximum number of workers.'
// Refused beside REQUEST_COUNT (END-6), so the document names no default: a client that always sends it would be refused.
const idleTimeout = z
  .number()
  .int()
  .min(1)
  .max(MAX_IDLE_TIMEOUT_SECONDS)
  .optional()
  .meta({
    description: `Seconds before an idle worker stops. Default: ${ENDPOINT_DEFAULTS.workers.idleTimeout}. Not used with REQUEST_COUNT.`,
  })

export const CreateEndpointWorkers = z
  .strictObject({
    min: WorkerCount.optional().meta({ description: MIN_WORKERS_TEXT, default: ENDPOINT_DEFAULTS.workers.min }),
    max: WorkerCount.optional().meta({ description: MAX_WORKERS_TEXT, default: ENDPOINT_DEFAULTS.workers.max }),
    idleTimeout,
  })
  .meta({ id: 'CreateEndpointWorkers', example: { min: 0, max: 3, idleTimeout: 5 } })

export const UpdateEndpointWorkers = z
  .strictObject({
    min: WorkerCount.optional().meta({ description: MIN_WORKERS_TEXT }),
    max: WorkerCount.optional().meta({ description: MAX_WORKERS_TEXT }),
    idleTimeout,
  })
  .meta({ id: 'UpdateEndpointWorkers', example: { max: 10 } })

export const EndpointWorkersView = z
  .strictObject({
    min: wholeNumber(0),
    max: wholeNumber(0),
    idleTimeout: z.number().int().min(1).max(MAX_IDLE_TIMEOUT_SECONDS).optional(),
  })
  .meta({ id: 'EndpointWorkersView', example: { min: 0, max: 3, idleTimeout: 5 } })

const QueueDelayScaling = z
  .strictObject({
    type: z.literal('QUEUE_DELAY'),
    queueDelay: z.number().min(0.5).meta({ description: 'Seconds a job may wait before a worker is added.', format: 'float' }),
  })
  .meta({ id: 'QueueDelayScaling', example: { type: 'QUEUE_DELAY', queueDelay: 4 } })

const RequestCountScaling = z
  .strictObject({
    type: z.literal('REQUEST_COUNT'),
    requestCount: wholeNumber(1).meta({ description: 'Number of queued and running jobs per worker.' }),
  })
  .meta({ id: 'RequestCountScaling', example: { type: 'REQUEST_COUNT', requestCount: 4 } })

export const EndpointScaling = z
  .discriminatedUnion('type', [QueueDelayScaling, RequestCountScaling])
  .meta({ id: 'EndpointScaling', example: { type: 'QUEUE_DELAY', queueDelay: 4 } })

/** Longest retention, milliseconds: the longest life of a job, 7 days. */
const MAX_RETENTION_MS = 604_800_000
const RunRetention = z.number().int().min(RETENTION_DEFAULTS.run).max(MAX_RETENTION_MS)
const RunSyncRetention = z.number().int().min(RETENTION_DEFAULTS.runSync).max(MAX_RETENTION_MS)
const RUN_RETENTION_TEXT = 'Retention of the result of a /run job, milliseconds.'
const RUN_SYNC_RETENTION_TEXT = 'Retention of the result of a /runsync job, milliseconds.'
const RETENTION_TEXT = 'Retention of results, at most until the ttl of the job.'

export const CreateResultRetention = z
  .strictObject({
    run: RunRetention.optional().meta({ description: RUN_RETENTION_TEXT, default: RETENTION_DEFAULTS.run }),
    runSync: RunSyncRetention.optional().meta({ description: RUN_SYNC_RETENTION_TEXT, default: RETENTION_DEFAULTS.runSync }),
  })
  .meta({ id: 'CreateResultRetention', description: RETENTION_TEXT, example: { runSync: 300_000 } })

export const ResultRetention = z
  .strictObject({
    run: RunRetention.optional().meta({ description: RUN_RETENTION_TEXT }),
    runSync: RunSyncRetention.optional().meta({ description: RUN_SYNC_RETENTION_TEXT }),
  })
  .meta({ id: 'ResultRetention', description: RETENTION_TEXT, example: { run: 1_800_000, runSync: 300_000 } })

const Pools = z.array(ResourceId).min(1).meta({ description: 'GPU pools in order of preference.' })
/** A leading hyphen is the spelling of an exclusion in older APIs, so it is refused here (END-4). */
const NOT_HYPHENATED = form(/^\s*[^-\s]/, 'a GPU type without a leading hyphen')
const ExcludedTypes = z
  .array(z.string().regex(NOT_HYPHENATED).regex(PLAIN_TEXT))
  .refine(isUnique, { error: 'items must be unique' })
  .meta({ uniqueItems: true, description: 'GPU types of these pools that are excluded.' })
const GpuCount = wholeNumber(1)
const CUDA_VERSION_OR_EMPTY = form(new RegExp(`^$|${CUDA_VERSION.source}`), 'a version such as 12.8, or nothing')
const GPU_COUNT_TEXT = 'GPUs of one worker.'

export const CreateEndpointGpuConfig = z
  .strictObject({
    pools: Pools,
    excludedTypes: ExcludedTypes.optional(),
    count: GpuCount.optional().meta({ description: GPU_COUNT_TEXT, default: ENDPOINT_DEFAULTS.gpuCount }),
    allowedCudaVersions: CudaVersions.optional().meta({ description: 'Exact CUDA versions; not together with a floor.' }),
    minCudaVersion: CudaVersion.optional().meta({ description: 'Lowest CUDA version.' }),
  })
  .meta({ id: 'CreateEndpointGpuConfig', example: { pools: ['ADA_24'], count: 1 } })

export const UpdateEndpointGpuConfig = z
  .strictObject({
    pools: Pools.optional(),
    excludedTypes: ExcludedTypes.optional().meta({ description: 'Needs `pools`; `pools` alone clears the exclusions.' }),
    count: GpuCount.optional().meta({ description: GPU_COUNT_TEXT }),
    allowedCudaVersions: CudaVersions.optional().meta({ description: 'Empty clears.' }),
    minCudaVersion: z.string().regex(CUDA_VERSION_OR_EMPTY).optional().meta({ description: 'Empty clears.' }),
  })
  .meta({
    id: 'UpdateEndpointGpuConfig',
    dependentRequired: { excludedTypes: ['pools'] },
    example: { pools: ['ADA_24', 'AMPERE_24'], minCudaVersion: '' },
  })

export const EndpointGpuConfig = z
  .object({
    pools: z.array(z.string()).min(1),
    excludedTypes: z.array(z.string().regex(NOT_HYPHENATED)).meta({ uniqueItems: true }),
    count: wholeNumber(1),
    allowedCudaVersions: z.array(z.string()),
    minCudaVersion: z.string().nullable(),
  })
  .meta({
    id: 'EndpointGpuConfig',
    example: { pools: ['ADA_24'], excludedTypes: [], count: 1, allowedCudaVersions: [], minCudaVersion: null },
  })

export const CreateCpuConfig = z
  .strictObject({
    id: ResourceId.meta({ description: 'CPU flavor.' }),
    vcpuCount: wholeNumber(2).meta({ description: 'A power of two within the range of the flavor.' }),
    memory: wholeNumber(1).optional().meta({ description: 'GB; only the value of the flavor is accepted.' }),
  })
  .meta({ id: 'CreateCpuConfig', example: { id: 'cpu3c', vcpuCount: 2 } })

export const CpuConfig = z
  .object({ id: z.string().min(1), vcpuCount: wholeNumber(2), memory: wholeNumber(1) })
  .meta({ id: 'CpuConfig', example: { id: 'cpu3c', vcpuCount: 2, memory: 4 } })

/** CPU machines in order of preference; the same flavor may appear in several sizes (END-4). */
export const CpuOptions = z
  .array(CreateCpuConfig)
  .min(1)
  .refine((options) => isUnique(options.map(({ id, vcpuCount }) => `${id} ${vcpuCount}`)), { error: 'items must be unique' })
  .meta({ uniqueItems: true, description: 'CPU machines in order of preference.' })

function isUnique(values: readonly string[]): boolean {
  return new Set(values).size === values.length
}
