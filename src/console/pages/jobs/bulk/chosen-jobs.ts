import type { JobState } from '../../../../contract/enums.ts'
import type { JobBulk, JobBulkRequest } from '../../../../contract/jobs/bulk.ts'

export const JOB_STATES: readonly JobState[] = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT']
/** Maximum number of jobs that one change may name (JOB-44). */
export const NAMED_MAX = 1_000

/** Filter of a job list, as stored in the address. */
export interface ChosenJobs {
  /** Job state; empty: any. */
  status: string
  /** Maximum age of the jobs, such as `24h`; empty: any. */
  span: string
  /** Prefix of the job ids. */
  idStart: string
}

const HOUR_MS = 3_600_000
const SPANS_MS: Readonly<Record<string, number>> = { '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS }

const since = (span: string, nowMs: number) => (SPANS_MS[span] === undefined ? undefined : new Date(nowMs - SPANS_MS[span]).toISOString())

/** Filter as query parameters of a list. */
export function listQuery({ status, span, idStart }: ChosenJobs, nowMs: number): { status?: string; from?: string; id?: string } {
  const from = since(span, nowMs)
  return { ...(status !== '' && { status }), ...(from !== undefined && { from }), ...(idStart !== '' && { id: idStart }) }
}

/** Filter as the request that changes all matching jobs. `ids`: the ids that match the prefix, since this request takes no prefix. */
export function bulkRequest({ status, span }: ChosenJobs, nowMs: number, ids: readonly string[] | null): JobBulkRequest {
  const from = since(span, nowMs)
  // The request names every state: the plan then counts the jobs that cannot be changed.
  const states = JOB_STATES.filter((state) => status === '' || state === status)
  return { status: states, ...(from !== undefined && { from }), ...(ids !== null && { ids: [...ids] }) }
}

/** Result for each job that a change names, in words; null if not known yet. */
export function resultsOf({ action, ids, left, status }: JobBulk): { id: string; result: string | null }[] {
  const outcome = action === 'cancel' ? 'cancelled' : 'queued again'
  const stays = new Map(left.map(({ id, reason }) => [id, `unchanged: ${reason}`]))
  const named = [...ids, ...left.map(({ id }) => id).filter((id) => !ids.includes(id))]
  return named.map((id) => ({ id, result: status === 'DONE' ? (stays.get(id) ?? outcome) : null }))
}
