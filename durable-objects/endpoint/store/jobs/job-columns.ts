import { endedAtMs, isEnded, type Job } from '../../../../src/domain/job/job.ts'
import { dueInRowMs } from '../../../../src/domain/job/lease-memory.ts'
import { STATE_CODES } from './job-row.ts'

/** Every column that a transition may change, with its value for a job. */
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
  acked: (job: Job) => (job.state === 'IN_PROGRESS' && job.acked ? 1 : 0),
  unconfirmed: (job: Job) => job.unconfirmed,
  host_losses: (job: Job) => job.hostLosses,
  lease_until: (job: Job) => (job.state === 'IN_PROGRESS' ? job.leaseUntilMs : job.lostAtMs),
  lease_end_reason: (job: Job) => (job.state === 'IN_PROGRESS' ? job.leaseEndReason : ''),
  missing_pings: (job: Job) => (job.state === 'IN_PROGRESS' ? job.missingPings : 0),
  finished_at: endedAtMs,
  error: (job: Job) => (isEnded(job) ? job.error : null),
  error_detail: (job: Job) => job.errorDetail,
  chunks: (job: Job) => job.chunks,
  delivery: (job: Job) => job.delivery,
} satisfies Record<string, (job: Job) => SqlStorageValue>
type Column = keyof typeof VALUES

/** A statement that writes some columns of a job. SQLite updates an index only when one of its columns is named. */
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

/** Columns that a running lease may change; none of them is in an index. */
export const LEASE = updateOf(['acked', 'lease_until', 'lease_end_reason', 'missing_pings', 'chunks', 'delivery'])

// `Object.keys` is typed as `string[]`.
const ALL = Object.keys(VALUES) as Column[]
/** Columns that are unchanged when a job starts to run or is queued again. The first two are in indexes, which then need no update. */
const KEPT_BY_A_MOVE: readonly Column[] = ['order_key', 'due_at', 'finished_at', 'error', 'chunks']

/** Update for a job that starts to run or is queued again. */
export const MOVE = updateOf(ALL.filter((name) => !KEPT_BY_A_MOVE.includes(name)))

/** Update for any transition. */
export const ANY = updateOf(ALL)

/** Update for the end of a job; the first value is its output. It deletes the input, unless the job may run again (CTL-2). */
export const END = updateOf(ALL, 'output = ?, input = NULL, ')
export const END_FOR_NOW = updateOf(ALL, 'output = ?, ')
