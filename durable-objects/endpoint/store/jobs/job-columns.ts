import type { Job } from '../../../../src/domain/job/job.ts'
import { dueInRowMs } from '../../../../src/domain/job/lease-memory.ts'
import { STATE_CODES } from './job-row.ts'

/** Every column that a transition may change, from the job. */
const VALUES = {
  state: (job: Job) => STATE_CODES[job.state],
  order_key: (job: Job) => job.orderKey,
  due_at: dueInRowMs,
  attempt: (job: Job) => job.attempt,
  retries: (job: Job) => job.retries,
  worker_id: (job: Job) => job.holder?.workerId ?? null,
  boot: (job: Job) => job.holder?.boot ?? null,
  past_holders: (job: Job) => (job.pastHolders.length > 0 ? job.pastHolders.join(' ') : null),
  started_at: (job: Job) => job.startedAtMs,
  acked: (job: Job) => (job.acked ? 1 : 0),
  unconfirmed: (job: Job) => job.unconfirmed,
  host_losses: (job: Job) => job.hostLosses,
  lease_until: (job: Job) => job.leaseUntilMs,
  lease_end_reason: (job: Job) => job.leaseEndReason,
  missing_pings: (job: Job) => job.missingPings,
  finished_at: (job: Job) => job.finishedAtMs,
  error: (job: Job) => job.error,
  error_detail: (job: Job) => job.errorDetail,
  chunks: (job: Job) => job.chunks,
  delivery: (job: Job) => job.delivery,
} satisfies Record<string, (job: Job) => SqlStorageValue>
type Column = keyof typeof VALUES

/** A statement that writes some columns of a job: an index is touched only when one of its columns is named. */
export interface JobUpdate {
  sql: string
  values(job: Job): SqlStorageValue[]
}

function updateOf(names: readonly Column[], texts = ''): JobUpdate {
  const set = names.map((name) => `${name} = ?`).join(', ')
  return {
    sql: `UPDATE jobs SET ${texts}${set} WHERE seq = ?`,
    values: (job) => [...names.map((name) => VALUES[name](job)), job.seq],
  }
}

/** What a lease may change of its job while it goes on: no column that an index has. */
export const LEASE = updateOf(['acked', 'lease_until', 'lease_end_reason', 'missing_pings', 'chunks', 'delivery'])

// `Object.keys` says no more than that they are texts.
const ALL = Object.keys(VALUES) as Column[]
/** Columns that stay when a job begins to run or waits again. The first two are in indexes, which are not touched then. */
const KEPT_BY_A_MOVE: readonly Column[] = ['order_key', 'due_at', 'finished_at', 'error', 'chunks']

/** A job that begins to run, or waits again. */
export const MOVE = updateOf(ALL.filter((name) => !KEPT_BY_A_MOVE.includes(name)))

/** Any transition. */
export const ANY = updateOf(ALL)

/** The end of a job: the first value is its output. The input goes with it, unless the job may run again (CTL-2). */
export const END = updateOf(ALL, 'output = ?, input = NULL, ')
export const END_FOR_NOW = updateOf(ALL, 'output = ?, ')
