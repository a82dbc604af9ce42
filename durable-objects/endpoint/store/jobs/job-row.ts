import { JOB_STATES, type JobState } from '../../../../src/contract/enums.ts'
import type { Job } from '../../../../src/domain/job/job.ts'
import { leaseEndReasonOf } from '../../../../src/domain/job/lease.ts'
import { logEvent } from '../../../../src/platform/log.ts'
import { numberOrNull, textOrNull } from '../row-values.ts'

/** Codes of the states in the `jobs` table. */
export const STATE_CODES = Object.fromEntries(JOB_STATES.map((state, code) => [state, code])) as Record<JobState, number>

/** The columns of a job without its input and output, of which a page of jobs would read megabytes. */
export const JOB_ROW = `seq, id, state, low, webhook, order_key, created_at, ttl_at, execution_timeout_ms, retention_ms, s3, attempt, retries,
  worker_id, boot, past_holders, started_at, acked, unconfirmed, host_losses, lease_until, lease_end_reason, missing_pings, finished_at, error,
  error_detail, chunks, delivery`

type Row = Record<string, SqlStorageValue>

/** Converts a row with the `JOB_ROW` columns to a job. Throws for a row that no job can have in its state (JOB-24). */
export function toJob(row: Row): Job {
  const { worker_id: worker, boot } = row
  const facts = {
    seq: Number(row.seq),
    id: String(row.id),
    lowPriority: row.low === 1,
    webhook: textOrNull(row.webhook),
    orderKey: Number(row.order_key),
    createdAtMs: Number(row.created_at),
    ttlAtMs: Number(row.ttl_at),
    executionTimeoutMs: Number(row.execution_timeout_ms),
    retentionMs: Number(row.retention_ms),
    hasS3Config: row.s3 === 1,
    attempt: Number(row.attempt),
    retries: Number(row.retries),
    holder: typeof worker === 'string' ? { workerId: worker, boot: String(boot) } : null,
    pastHolders: typeof row.past_holders === 'string' ? row.past_holders.split(' ') : [],
    startedAtMs: numberOrNull(row.started_at),
    unconfirmed: Number(row.unconfirmed),
    hostLosses: Number(row.host_losses),
    errorDetail: textOrNull(row.error_detail),
    chunks: Number(row.chunks ?? 0),
    delivery: textOrNull(row.delivery),
  }
  const state = JOB_STATES[Number(row.state)]
  switch (state) {
    case undefined:
      return refuse(row, 'state')
    case 'IN_QUEUE':
      return { ...facts, state, lostAtMs: numberOrNull(row.lease_until) }
    case 'IN_PROGRESS':
      return {
        ...facts,
        state,
        holder: facts.holder ?? refuse(row, 'worker_id'),
        startedAtMs: facts.startedAtMs ?? refuse(row, 'started_at'),
        acked: row.acked === 1,
        leaseUntilMs: numberOrNull(row.lease_until) ?? refuse(row, 'lease_until'),
        leaseEndReason: leaseEndReasonOf(textOrNull(row.lease_end_reason) ?? ''),
        missingPings: Number(row.missing_pings ?? 0),
      }
    default:
      return {
        ...facts,
        state,
        finishedAtMs: numberOrNull(row.finished_at) ?? refuse(row, 'finished_at'),
        error: textOrNull(row.error),
        lostAtMs: numberOrNull(row.lease_until),
      }
  }
}

/** The job of a row, or null for a corrupted one, which the log then names: other jobs do not wait for its repair (JOB-24). */
export function readableJob(row: Row): Job | null {
  try {
    return toJob(row)
  } catch (error) {
    logEvent('error', 'a job is left out', { error })
    return null
  }
}

function refuse(row: Row, column: string): never {
  throw new Error(`the row of job ${row.id} is corrupted: ${column} is ${row[column]} in state ${row.state}`)
}
