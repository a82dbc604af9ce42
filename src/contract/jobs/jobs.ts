import { z } from 'zod'
import { JOB_DEFAULTS } from '../defaults.ts'
import { JOB_STATES } from '../enums.ts'
import { Pagination } from '../pagination.ts'

// Schemas of the job API for the document. The queue itself reads bodies without them: inputs are opaque and may be megabytes.

const MAX_LIFE_MS = 604_800_000
const MAX_S3_CONFIG_CHARS = 2048

/** Policy of a job; unknown members are refused (RUN-10). */
export const JobPolicy = z
  .strictObject({
    executionTimeout: z
      .number()
      .int()
      .min(5000)
      .max(MAX_LIFE_MS)
      .optional()
      .meta({ description: 'Milliseconds that one attempt may run; overrides the endpoint.' }),
    lowPriority: z.boolean().optional().meta({ description: 'Does not trigger scaling.', default: JOB_DEFAULTS.lowPriority }),
    ttl: z
      .number()
      .int()
      .min(10_000)
      .max(MAX_LIFE_MS)
      .optional()
      .meta({ description: 'Milliseconds from submission after which the job is deleted, whatever its state.', default: JOB_DEFAULTS.ttl }),
  })
  .meta({ id: 'JobPolicy', example: { executionTimeout: 600000, lowPriority: false, ttl: 86400000 } })

/** A string of an S3 configuration (RUN-11). */
const S3Text = z.string().min(1).max(MAX_S3_CONFIG_CHARS)

export const SubmitJobRequest = z
  .object({
    input: z.record(z.string(), z.unknown()).meta({ description: "Parameters of the worker's handler." }),
    webhook: z
      .string()
      .optional()
      .meta({ format: 'uri', description: 'A public https URL that receives a signed POST when the job ends, with up to three attempts.' }),
    policy: JobPolicy.optional(),
    s3Config: z
      .object({ accessId: S3Text, accessSecret: S3Text, bucketName: S3Text, endpointUrl: S3Text, objectPath: S3Text.optional() })
      .optional()
      .meta({ description: 'Passed to the worker and never returned.' }),
  })
  .meta({ id: 'SubmitJobRequest', example: { input: { prompt: 'a lighthouse at dusk' } } })

export const JobStatus = z.enum(JOB_STATES).meta({ id: 'JobStatus', example: 'IN_QUEUE' })

const JOB_ID = 'eaebd6e7-6a92-4bb8-a911-f996ac5ea99d-u1'

const Count = z.number().int().min(0)
const WorkerCounts = z.object({ idle: Count, initializing: Count, ready: Count, running: Count, throttled: Count, unhealthy: Count })

/** A job; members appear only when they are set (JOB-1). */
export const JobRecord = z
  .object({
    delayTime: z.number().int().optional().meta({ description: 'Milliseconds from submission to the start of the last attempt.' }),
    error: z.string().optional(),
    errorDetail: z.string().optional().meta({ description: 'Details of the error, such as how the worker ended.' }),
    executionTime: z.number().int().optional().meta({ description: 'Milliseconds of the last attempt.' }),
    id: z.string(),
    output: z.unknown().optional(),
    queue: z
      .object({ reason: z.string(), workers: WorkerCounts })
      .optional()
      .meta({ description: 'Why a queued job waits; `/explain` has the details.' }),
    retries: z.number().int().optional(),
    status: JobStatus,
    workerId: z.string().optional(),
  })
  .meta({
    id: 'JobRecord',
    example: { delayTime: 824, executionTime: 3391, id: JOB_ID, output: { seed: 46578 }, status: 'COMPLETED', workerId: 'z3jr9rv2k3tt2y' },
  })

export const StreamReply = z
  .object({
    status: JobStatus,
    stream: z.array(z.looseObject({ output: z.unknown() })),
    error: z.string().optional(),
  })
  .meta({ id: 'StreamReply', example: { status: 'IN_PROGRESS', stream: [{ output: 'Once' }, { output: ' upon' }] } })

export const PurgeReply = z
  .object({ removed: z.number().int(), status: z.literal('completed') })
  .meta({ id: 'PurgeReply', example: { removed: 2, status: 'completed' } })

export const HealthReply = z
  .object({
    jobs: z.object({ completed: Count, failed: Count, inProgress: Count, inQueue: Count, retried: Count }),
    workers: WorkerCounts,
    requests: z
      .object({
        inFlight: Count,
        waiting: Count,
        reason: z.string().optional().meta({ description: 'Why jobs wait; only while jobs wait.' }),
      })
      .optional()
      .meta({ description: 'Only on load-balancing endpoints: their current requests.' }),
  })
  .meta({
    id: 'HealthReply',
    example: {
      jobs: { completed: 31, failed: 0, inProgress: 0, inQueue: 0, retried: 0 },
      workers: { idle: 2, initializing: 0, ready: 2, running: 0, throttled: 0, unhealthy: 0 },
    },
  })

/** Page of recent jobs (HLT-10). */
export const RequestsReply = z
  .object({
    requests: z.array(
      JobRecord.extend({
        createdAt: z.string().meta({ format: 'date-time' }),
        outputOmitted: z.boolean().optional().meta({ description: 'True if the output is too large for the list; `/status` returns it.' }),
      }),
    ),
    pagination: Pagination,
  })
  .meta({
    id: 'RequestsReply',
    example: {
      requests: [{ createdAt: '2026-01-01T00:00:00Z', id: JOB_ID, status: 'IN_QUEUE' }],
      pagination: { nextCursor: null, hasNextPage: false },
    },
  })

export const MetricsReply = z
  .object({ readyWorkers: z.array(z.string()).meta({ description: 'Workers that request work or run jobs.' }), workers: WorkerCounts })
  .meta({
    id: 'MetricsReply',
    example: {
      readyWorkers: ['z3jr9rv2k3tt2y'],
      workers: { idle: 1, initializing: 0, ready: 1, running: 0, throttled: 0, unhealthy: 0 },
    },
  })

/** Series of finished jobs (HLT-12). */
export const RequestSeriesReply = z
  .object({
    interval: z.enum(['m', 'h', 'd']),
    series: z.array(z.object({ start: z.string().meta({ format: 'date-time' }), completed: Count, failed: Count, retried: Count })),
  })
  .meta({
    id: 'RequestSeriesReply',
    example: { interval: 'h', series: [{ start: '2026-01-01T00:00:00Z', completed: 31, failed: 0, retried: 1 }] },
  })

export const OpenaiBody = z
  .looseObject({ stream: z.boolean().optional().meta({ description: 'Answer with server-sent events.' }) })
  .meta({ id: 'OpenaiBody', example: { model: 'm', messages: [{ role: 'user', content: 'hello' }], stream: true } })

/** Error of the OpenAI API (OAI-11). */
export const OpenaiProblem = z
  .object({
    error: z.object({ message: z.string(), type: z.string(), code: z.string().nullable() }),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
  })
  .meta({
    id: 'OpenaiProblem',
    description: 'One error in the formats of both APIs.',
    example: {
      error: { message: 'endpoint not found', type: 'not_found_error', code: null },
      title: 'Not Found',
      status: 404,
      detail: 'endpoint not found',
    },
  })
