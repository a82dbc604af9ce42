import { z } from 'zod'

// Schemas of the job API for the document. The queue itself reads bodies without them: inputs are opaque and may be megabytes.

const MAX_LIFE_MS = 604_800_000

export const JobPolicy = z
  .object({
    executionTimeout: z
      .number()
      .int()
      .min(5000)
      .max(MAX_LIFE_MS)
      .optional()
      .meta({ description: 'Milliseconds that one attempt may run; overrides the endpoint.' }),
    lowPriority: z.boolean().optional().meta({ description: 'Does not trigger scaling.' }),
    ttl: z
      .number()
      .int()
      .min(10_000)
      .max(MAX_LIFE_MS)
      .optional()
      .meta({ description: 'Milliseconds from submission after which the job is deleted, whatever its state.' }),
  })
  .meta({ id: 'JobPolicy', example: { executionTimeout: 600000, lowPriority: false, ttl: 86400000 } })

export const SubmitJobRequest = z
  .object({
    input: z.record(z.string(), z.unknown()).meta({ description: "Parameters of the worker's handler." }),
    webhook: z
      .string()
      .optional()
      .meta({ format: 'uri', description: 'A public https URL that is told by POST when the job is over: up to three attempts, signed.' }),
    policy: JobPolicy.optional(),
    s3Config: z
      .object({
        accessId: z.string().optional(),
        accessSecret: z.string().optional(),
        bucketName: z.string().optional(),
        endpointUrl: z.string().optional(),
        objectPath: z.string().optional(),
      })
      .optional()
      .meta({ description: 'Handed to the worker, never shown again.' }),
  })
  .meta({ id: 'SubmitJobRequest', example: { input: { prompt: 'a lighthouse at dusk' } } })

export const JobStatus = z
  .enum(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'])
  .meta({ id: 'JobStatus', example: 'IN_QUEUE' })

const JOB_ID = 'eaebd6e7-6a92-4bb8-a911-f996ac5ea99d-u1'

/** Keys appear only when set (JOB-1). */
export const JobRecord = z
  .object({
    delayTime: z.number().int().optional().meta({ description: 'Milliseconds from submission to the start of the last attempt.' }),
    error: z.string().optional(),
    executionTime: z.number().int().optional().meta({ description: 'Milliseconds of the last attempt.' }),
    id: z.string(),
    output: z.unknown().optional(),
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

const Count = z.number().int().min(0)
export const HealthReply = z
  .object({
    jobs: z.object({ completed: Count, failed: Count, inProgress: Count, inQueue: Count, retried: Count }),
    workers: z.object({ idle: Count, initializing: Count, ready: Count, running: Count, throttled: Count, unhealthy: Count }),
  })
  .meta({
    id: 'HealthReply',
    example: {
      jobs: { completed: 31, failed: 0, inProgress: 0, inQueue: 0, retried: 0 },
      workers: { idle: 2, initializing: 0, ready: 2, running: 0, throttled: 0, unhealthy: 0 },
    },
  })

export const WaitQuery = z.object({
  wait: z.number().int().optional().meta({ description: 'Milliseconds to wait for the job, 1000 to 300000; values outside are clamped.' }),
})
