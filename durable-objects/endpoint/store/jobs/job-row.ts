import { JOB_STATES, type JobState } from '../../../../src/contract/enums.ts'
import type { Job } from '../../../../src/domain/job/job.ts'
import { numberOrNull, textOrNull } from '../row-values.ts'

/** Codes of the states in the `jobs` table. */
export const STATE_CODES = Object.fromEntries(JOB_STATES.map((state, code) => [state, code])) as Record<JobState, number>

/** The columns of a job without its input and output, of which a page of jobs would read megabytes. */
export const JOB_ROW = `seq, id, state, low, webhook, order_key, created_at, ttl_at, execution_timeout_ms, retention_ms, s3, attempt, retries,
  worker_id, boot, past_holders, started_at, acked, unconfirmed, host_losses, lease_until, lease_end_reason, missing_pings, finished_at, error,
  error_detail, chunks, delivery`

/** Converts a row with the `JOB_ROW` columns to a job. */
export function toJob(row: Record<string, SqlStorageValue>): Job {
  const worker = row.worker_id
  return {
    seq: Number(row.seq),
    id: String(row.id),
    state: JOB_STATES[Number(row.state)] ?? 'FAILED',
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
    holder: typeof worker === 'string' ? { workerId: worker, boot: String(row.boot) } : null,
    pastHolders: typeof row.past_holders === 'string' ? row.past_holders.split(' ') : [],
    startedAtMs: numberOrNull(row.started_at),
    acked: row.acked === 1,
    unconfirmed: Number(row.unconfirmed),
    hostLosses: Number(row.host_losses),
    leaseUntilMs: numberOrNull(row.lease_until),
    leaseEndReason: typeof row.lease_end_reason === 'string' ? row.lease_end_reason : '',
    missingPings: Number(row.missing_pings ?? 0),
    finishedAtMs: numberOrNull(row.finished_at),
    error: textOrNull(row.error),
    errorDetail: textOrNull(row.error_detail),
    chunks: Number(row.chunks ?? 0),
    delivery: textOrNull(row.delivery),
  }
}
