import { z } from 'zod'
import { JOB_STATES } from '../enums.ts'
import { Timestamp } from '../fields.ts'
import { JobStatus } from './jobs.ts'

/** Most job ids that one call may name. */
export const BULK_IDS_MAX = 1_000

const Instant = z.iso.datetime({ offset: true }).optional()
const Count = z.number().int().min(0)
const Counts = z.object({
  IN_QUEUE: Count.optional(),
  IN_PROGRESS: Count.optional(),
  COMPLETED: Count.optional(),
  FAILED: Count.optional(),
  CANCELLED: Count.optional(),
  TIMED_OUT: Count.optional(),
})

/** The reason why a job is not changed. */
const Reason = z.string().meta({ description: 'Why the jobs are not changed.' })

const JOB_ID = 'eaebd6e7-6a92-4bb8-a911-f996ac5ea99d-u1'

/** JOB-44: the request must have at least one member, so that an empty body does not select all jobs. */
export const JobBulkRequest = z
  .strictObject({
    status: z.array(JobStatus).min(1).max(6).optional().meta({ description: 'Only jobs in these states.' }),
    from: Instant.meta({ description: 'Created at this time or later.' }),
    to: Instant.meta({ description: 'Created before this time.' }),
    ids: z.array(z.string().min(1).max(64)).min(1).max(BULK_IDS_MAX).optional().meta({ description: 'Only these jobs.' }),
    expected: Count.optional().meta({
      description: '`matched` of a plan: if another number of jobs matches, the call is refused with 409 and changes nothing.',
    }),
  })
  .meta({ id: 'JobBulkRequest', example: { status: ['IN_QUEUE', 'FAILED'] } })
export type JobBulkRequest = z.infer<typeof JobBulkRequest>

/** JOB-44: a plan of a bulk change, or its progress. */
export const JobBulk = z
  .object({
    id: z.string().nullable().meta({ description: 'Null for a plan.' }),
    action: z.enum(['cancel', 'retry']),
    status: z.enum(['PLANNED', 'RUNNING', 'DONE']),
    matched: Count.meta({ description: 'Number of matching jobs that it may change, at the time of the request.' }),
    byStatus: Counts,
    ids: z.array(z.string()).meta({ description: 'The ids of the first 20 matching jobs.' }),
    refused: z
      .array(z.object({ status: z.enum(JOB_STATES).nullable(), jobs: Count, reason: Reason }))
      .meta({ description: 'Number of selected jobs that it cannot change, by state; null: ids without a job (JOB-47).' }),
    estimatedCostUsd: z.number().nullable().meta({
      description:
        'Only for a retry: the estimated cost, from the time of the last run of each job and the rate of the newest worker (JOB-50).',
    }),
    looked: Count,
    changed: Count,
    skipped: Count.meta({ description: 'Jobs that were in another state when their turn came.' }),
    left: z
      .array(z.object({ id: z.string(), status: z.enum(JOB_STATES).nullable(), reason: Reason }))
      .meta({ description: 'The first 20 of those that were skipped; null: deleted meanwhile (JOB-47).' }),
    createdAt: Timestamp,
    finishedAt: Timestamp.nullable(),
  })
  .meta({
    id: 'JobBulk',
    example: {
      id: 'bulk_5f0c2a9d2b7e6835',
      action: 'retry',
      status: 'RUNNING',
      matched: 812,
      byStatus: { FAILED: 812 },
      ids: [JOB_ID],
      refused: [{ status: 'COMPLETED', jobs: 31, reason: 'only jobs that failed or timed out can be retried' }],
      estimatedCostUsd: 0.53,
      looked: 200,
      changed: 199,
      skipped: 1,
      left: [{ id: JOB_ID, status: 'IN_QUEUE', reason: 'it is not over' }],
      createdAt: '2026-06-01T12:00:00Z',
      finishedAt: null,
    },
  })
export type JobBulk = z.infer<typeof JobBulk>
