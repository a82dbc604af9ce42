import type { JobState } from '../../../../contract/enums.ts'
import type { JobBulk, JobBulkRequest } from '../../../../contract/jobs/bulk.ts'

export const JOB_STATES: readonly JobState[] = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT']
/** Jobs that one change may name (JL-30). */
export const NAMED_MAX = 1_000

/** Which jobs of an endpoint a list shows, as it stands in the address. */
export interface ChosenJobs {
  /** A state; empty: any. */
  status: string
  /** How long ago they came, such as `24h`; empty: whenever. */
  span: string
  /** How their ids begin. */
  idStart: string
}

const HOUR_MS = 3_600_000
const SPANS_MS: Readonly<Record<string, number>> = { '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS }

const since = (span: string, nowMs: number) => (SPANS_MS[span] === undefined ? undefined : new Date(nowMs - SPANS_MS[span]).toISOString())

/** As a list asks for them. */
export function listQuery({ status, span, idStart }: ChosenJobs, nowMs: number): { status?: string; from?: string; id?: string } {
  const from = since(span, nowMs)
  return { ...(status !== '' && { status }), ...(from !== undefined && { from }), ...(idStart !== '' && { id: idStart }) }
}

/** As a change of all of them asks for them. `ids`: those that a beginning of an id stands for, which such a change does not know. */
export function bulkRequest({ status, span }: ChosenJobs, nowMs: number, ids: readonly string[] | null): JobBulkRequest {
  const from = since(span, nowMs)
  // Every state by its name: what cannot be changed is then counted by the plan.
  const states = JOB_STATES.filter((state) => status === '' || state === status)
  return { status: states, ...(from !== undefined && { from }), ...(ids !== null && { ids: [...ids] }) }
}

/** What became of the jobs that a change names, in words; null: not known yet. */
export function resultsOf({ action, ids, left, status }: JobBulk): { id: string; result: string | null }[] {
  const words = action === 'cancel' ? 'cancelled' : 'queued again'
  const stays = new Map(left.map(({ id, reason }) => [id, `stays: ${reason}`]))
  const named = [...ids, ...left.map(({ id }) => id).filter((id) => !ids.includes(id))]
  return named.map((id) => ({ id, result: status === 'DONE' ? (stays.get(id) ?? words) : null }))
}
