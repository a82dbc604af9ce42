import { z } from 'zod'
import { DeliveryAttempt, WebhookDelivery } from '../endpoints/webhooks.ts'
import { JobStatus } from './jobs.ts'

const Instant = z.string().meta({ format: 'date-time', description: 'With milliseconds.' })
const Ms = z.number().int().min(0)
const Median = Ms.nullable()
const Usd = z.number().nullable()
const PHASES = ['QUEUED', 'PLACING', 'IMAGE', 'START', 'RUNNING'] as const

const JOB_ID = 'eaebd6e7-6a92-4bb8-a911-f996ac5ea99d-u1'
const AT = '2026-06-01T12:00:00.000Z'
const END = '2026-06-01T12:00:03.391Z'

const ATTEMPT = {
  attempt: 1,
  worker: { id: 'z3jr9rv2k3tt2y', gpuTypeId: 'NVIDIA L4', gpuCount: 1, dataCenterId: 'EU-RO-1' },
  startedAt: AT,
  endedAt: END,
  outcome: 'COMPLETED' as const,
  reason: null,
  phases: [{ phase: 'RUNNING' as const, from: AT, to: END, ms: 3391 }],
  usdPerHour: 0.69,
  costUsd: 0.00065,
  logs: { workerId: 'z3jr9rv2k3tt2y', since: AT, until: END },
}

/** One attempt of a job (JOB-43). */
export const JobAttempt = z
  .object({
    attempt: z.number().int().min(1),
    worker: z.object({
      id: z.string(),
      gpuTypeId: z.string().nullable(),
      gpuCount: z.number().int().min(0).nullable().meta({ description: 'Null if the record of this worker is deleted.' }),
      dataCenterId: z.string().nullable(),
    }),
    startedAt: Instant,
    endedAt: Instant.nullable(),
    outcome: z
      .enum(['RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT', 'LOST'])
      .meta({ description: '`LOST`: its worker lost it.' }),
    reason: z.string().nullable(),
    phases: z
      .array(z.object({ phase: z.enum(PHASES), from: Instant, to: Instant.nullable(), ms: Ms }))
      .meta({ description: 'From the wait before the attempt to its end. Phases without a duration are omitted.' }),
    usdPerHour: Usd.meta({ description: 'USD per hour of its worker; null: unknown.' }),
    costUsd: Usd.meta({ description: 'The metered cost: the rate of its worker times the running time of the attempt.' }),
    logs: z
      .object({ workerId: z.string(), since: Instant, until: Instant.nullable() })
      .meta({ description: 'The time range of its log lines: `since` and `until` of `workers/{workerId}/logs/lines`.' }),
  })
  .meta({ id: 'JobAttempt', example: ATTEMPT })
export type JobAttempt = z.infer<typeof JobAttempt>

/** Longest part of an input that is shown, bytes (JOB-48). */
export const SHOWN_INPUT_BYTES = 16_384

/** The timeline of a job (JOB-43). */
export const JobTimeline = z
  .object({
    id: z.string(),
    status: JobStatus,
    createdAt: Instant,
    finishedAt: Instant.nullable(),
    input: z
      .object({ json: z.string(), bytes: Ms, isWhole: z.boolean() })
      .nullable()
      .meta({
        description: `Input of the job as JSON text, at most its first ${SHOWN_INPUT_BYTES} bytes. Null: the job is completed or cancelled, so its input is not stored.`,
      }),
    waitingSince: Instant.nullable().meta({ description: 'While it is queued.' }),
    chunks: Ms.meta({ description: 'Number of chunks of its stream so far, over all attempts.' }),
    costUsd: Usd.meta({ description: 'USD of all attempts; null if the cost of one is unknown.' }),
    attempts: z.array(JobAttempt).meta({ description: 'Oldest first, at most the last 50.' }),
    medians: z.object({ QUEUED: Median, PLACING: Median, IMAGE: Median, START: Median, RUNNING: Median }).meta({
      description:
        'Median duration of each phase over the newest completed jobs of this endpoint, milliseconds. Phases without a duration are omitted.',
    }),
    webhooks: z
      .array(WebhookDelivery.pick({ id: true, url: true, status: true }).extend({ attempts: z.array(DeliveryAttempt), createdAt: Instant }))
      .nullable()
      .meta({ description: 'Its notifications, newest first; null when they cannot be read right now.' }),
  })
  .meta({
    id: 'JobTimeline',
    description: 'The history of a job: attempts, phases, workers, price and notifications.',
    example: {
      id: JOB_ID,
      status: 'COMPLETED',
      createdAt: AT,
      finishedAt: END,
      input: null,
      waitingSince: null,
      chunks: 0,
      costUsd: 0.00065,
      attempts: [ATTEMPT],
      medians: { QUEUED: 120, PLACING: null, IMAGE: null, START: null, RUNNING: 3100 },
      webhooks: [],
    },
  })
export type JobTimeline = z.infer<typeof JobTimeline>
