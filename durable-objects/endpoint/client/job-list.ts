import type { JobState } from '../../../src/contract/enums.ts'
import type { JobCall } from '../../../src/contract/jobs/job-routes.ts'
import { PageSizeQuery } from '../../../src/contract/jobs/queries.ts'
import type { Pagination } from '../../../src/contract/pagination.ts'
import type { Job } from '../../../src/domain/job/job.ts'
import {
  EVERY_JOB,
  type JobFilter,
  matchesFilter,
  prefixRange,
  readCursor,
  readJobFilter,
  type SeqRange,
} from '../../../src/domain/job/job-filter.ts'
import { applyTime } from '../../../src/domain/job/lease.ts'
import { applyDeadlines } from '../../../src/queue/deadlines.ts'
import type { Clock, Commits, Rows } from '../parts.ts'
import type { SqlState } from '../store/sql-state.ts'

/**
 * Largest number of jobs that one call scans (JOB-42). Most calls scan as many as they list; id prefixes and completed jobs among many others
 * need more.
 */
export const MAX_SCANNED = 10_000
/** Rows read at a time. */
const STEP = 500

/** A page of jobs, newest first, and the id after which the list continues; null at the end. */
export interface JobPage {
  jobs: Job[]
  nextCursor: string | null
}

/** The range of sequence numbers that contains the jobs of a filter. */
export function rangeOf(state: SqlState, { fromMs, toMs, idPrefix }: JobFilter): SeqRange {
  const prefix = idPrefix === null ? null : prefixRange(idPrefix, state.meta.idMask())
  return {
    fromSeq: Math.max(prefix?.fromSeq ?? 0, fromMs === null ? 0 : state.lists.firstSince(fromMs)),
    beforeSeq: Math.min(prefix?.beforeSeq ?? EVERY_JOB.beforeSeq, toMs === null ? EVERY_JOB.beforeSeq : state.lists.firstSince(toMs)),
  }
}

/** The filter, position and limit of a call, or a description of what is wrong with them. */
export function readListing(core: Rows, call: JobCall): { filter: JobFilter; beforeSeq: number; limit: number } | { fault: string } {
  const filter = readJobFilter(call.query)
  if ('fault' in filter) return filter
  const beforeSeq = readCursor(call.query.get('cursor'), core.state.meta.idMask())
  if (beforeSeq === undefined) return { fault: '$.cursor: not a cursor of this list' }
  const limit = PageSizeQuery.shape.limit.parse(call.query.get('limit') ?? undefined)
  return { filter, beforeSeq: beforeSeq ?? EVERY_JOB.beforeSeq, limit }
}

/** A page of the jobs of a filter in their current state (JOB-40). */
export async function pageOfJobs(core: Clock & Commits & Rows, filter: JobFilter, beforeSeq: number, limit: number): Promise<JobPage> {
  const nowMs = core.now()
  // Due transitions are written first, so that the rows have the state that is listed.
  if ((core.state.jobs.nextDueAtMs() ?? Number.POSITIVE_INFINITY) <= nowMs) await core.transact(applyDeadlines)
  const { lists } = core.state
  const range = rangeOf(core.state, filter)
  const found: Job[] = []
  let left = MAX_SCANNED
  let position = Math.min(range.beforeSeq, beforeSeq, endOf(core.state, filter.states))
  let last: Job | null = null
  // Grows, because few of the rows may match.
  for (let size = limit + 1; ; size *= 2) {
    const step = lists.page(filter.states, { fromSeq: range.fromSeq, beforeSeq: position }, Math.min(STEP, left, size))
    for (const row of step) {
      const job = shownJob(row, nowMs)
      const isMeant = job !== null && matchesFilter(job, filter)
      if (isMeant && found.length === limit) return { jobs: found, nextCursor: last?.id ?? null }
      if (isMeant) found.push(job)
      last = row
      position = row.seq
    }
    left -= step.length
    if (step.length === 0) return { jobs: found, nextCursor: null }
    if (left === 0) return { jobs: found, nextCursor: last?.id ?? null }
  }
}

/** A number that is above those of all jobs of some states: completed jobs are below a long queue, which a list of them need not scan. */
function endOf(state: SqlState, states: readonly JobState[] | null): number {
  const completed = state.newestCompleted()
  if (!states?.includes('COMPLETED') || completed === null) return EVERY_JOB.beforeSeq
  const [other] = state.lists.page(
    states.filter((one) => one !== 'COMPLETED'),
    EVERY_JOB,
    1,
  )
  return Math.max(completed, other?.seq ?? 0) + 1
}

/** The job after due transitions; null when it has expired. */
export function shownJob(job: Job, nowMs: number): Job | null {
  const due = applyTime(job, nowMs)
  if (due.kind === 'delete') return null
  return due.kind === 'none' ? job : due.job
}

/** The pagination member that every list has (PAG-1). */
export function paginationOf({ nextCursor }: JobPage): Pagination {
  return { nextCursor, hasNextPage: nextCursor !== null }
}
