import { JOB_STATES, type JobState } from '../../../src/contract/enums.ts'
import { type JobBulk, JobBulkRequest } from '../../../src/contract/jobs/bulk.ts'
import type { JobCall } from '../../../src/contract/jobs/job-routes.ts'
import { BulkQuery } from '../../../src/contract/jobs/queries.ts'
import { formatTime } from '../../../src/contract/timestamps.ts'
import { describeIssues } from '../../../src/contract/validation-errors.ts'
import { parseJobSeq } from '../../../src/domain/job/id.ts'
import type { Job } from '../../../src/domain/job/job.ts'
import { type JobFilter, matchesFilter } from '../../../src/domain/job/job-filter.ts'
import { lastRunMs } from '../../../src/domain/job/timeline.ts'
import { amountMicros, usdOfMicros } from '../../../src/domain/money.ts'
import { type BulkAction, mayChange, refusalOf } from '../../../src/queue/bulk.ts'
import type { Tx } from '../../../src/queue/tx.ts'
import { type Cause, causeOf } from '../../../src/rpc/cause.ts'
import { jsonReply } from '../../../src/rpc/plain-reply.ts'
import type { Commits, Outboxes, Outside, Rows } from '../parts.ts'
import { problemReply, readText } from '../replies.ts'
import type { Bulk, BulkScope } from '../store/jobs/bulk-store.ts'
import type { SqlState } from '../store/sql-state.ts'
import { bulkStarted, note } from './audit-notes.ts'
import { rangeOf, shownJob } from './job-list.ts'
import { type RunEstimate, readRunEstimate } from './timeline.ts'

/** Parts that a bulk change uses. */
type BulkParts = Commits & Outboxes & Outside & Rows

/** Bulk changes that may run at a time, so that a tenant cannot pile them up. */
const MAX_RUNNING = 4
const SHOWN_IDS = 20
/** Jobs whose last runs are read for an estimate; the others count with their mean. */
const ESTIMATED_JOBS = 200
const CHANGEABLE = { cancel: ['IN_QUEUE', 'IN_PROGRESS'], retry: ['FAILED', 'TIMED_OUT'] } as const

/** `/requests/cancel` and `/requests/retry` (JOB-44): returns a preview, or starts the change. */
export async function startBulk(core: BulkParts, call: JobCall, request: Request, action: BulkAction): Promise<Response> {
  const said = readPlanAsked(call.query)
  if ('fault' in said) return problemReply('badRequest', said.fault)
  const limit = call.route.maxBodyBytes ?? 0
  const text = await readText(request, limit)
  if (text === null) return problemReply('payloadTooLarge', `request body exceeds ${limit} bytes`)
  const read = readRequest(text)
  if ('fault' in read) return problemReply('badRequest', read.fault)
  const estimate = action === 'retry' ? await readRunEstimate(core) : null
  if (said.isPlan)
    return jsonReply(JSON.stringify(bulkView(await core.transact((tx) => planOf(core.state, tx, action, read.selection, estimate)), true)))
  return begin(core, action, read.selection, estimate, causeOf(request))
}

/** `/requests/bulk/<id>`: progress of a bulk change. */
export function bulkProgress(core: Rows, call: JobCall): Response {
  const bulk = core.state.bulks.get(call.rest)
  return bulk ? jsonReply(JSON.stringify(bulkView(bulk, false))) : problemReply('notFound', 'no such bulk')
}

async function begin(
  core: BulkParts,
  action: BulkAction,
  selection: JobBulkRequest,
  estimate: RunEstimate | null,
  cause: Cause,
): Promise<Response> {
  return core.transact((tx) => {
    const running = core.state.bulks.running().length
    if (running >= MAX_RUNNING)
      return problemReply('conflict', `${running} bulk changes of this endpoint are already running; wait until one ends`)
    const bulk = planOf(core.state, tx, action, selection, estimate)
    if (selection.expected !== undefined && selection.expected !== bulk.matched) {
      return problemReply('conflict', `the plan is stale: it expects ${selection.expected} jobs, but ${bulk.matched} match`)
    }
    // A bulk change without matching jobs is finished at once.
    const kept = bulk.matched === 0 ? { ...bulk, finishedAtMs: tx.nowMs } : bulk
    core.state.bulks.save(kept)
    if (bulk.matched > 0) note(core, tx, cause, bulkStarted(action, bulk))
    return jsonReply(JSON.stringify(bulkView(kept, false)))
  })
}

// Jobs that arrive later are excluded: their sequence numbers are higher than those of the plan.
function planOf(state: SqlState, tx: Tx, action: BulkAction, selection: JobBulkRequest, estimate: RunEstimate | null): Bulk {
  const states = CHANGEABLE[action].filter((one) => selection.status === undefined || selection.status.includes(one))
  const time = (text: string | undefined) => (text === undefined ? null : Date.parse(text))
  const filter: JobFilter = { states, fromMs: time(selection.from), toMs: time(selection.to), idPrefix: null }
  const range = rangeOf(state, filter)
  const named = selection.ids && [...new Set(selection.ids)].flatMap((id) => jobNumber(state, tx, id)).sort((a, b) => a - b)
  const scope: BulkScope = {
    states,
    fromMs: filter.fromMs,
    toMs: filter.toMs,
    fromSeq: range.fromSeq,
    beforeSeq: Math.min(range.beforeSeq, state.lists.firstSince(Number.POSITIVE_INFINITY)),
    seqs: named?.filter((seq) => isMeant(state, action, seq, filter)) ?? null,
  }
  const byStatus = scope.seqs ? countStates(state, scope.seqs) : state.lists.countByState(states, scope)
  const matched = Object.values(byStatus).reduce((sum, count) => sum + count, 0)
  const first = scope.seqs ? scope.seqs.slice(0, SHOWN_IDS) : state.lists.seqsAfter(states, scope, SHOWN_IDS)
  return {
    id: `bulk_${[...state.randomBytes(8)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`,
    action,
    want: scope,
    matched,
    byStatus,
    refused: refusedOf(state, tx, action, selection, { ...filter, states: selection.status ?? null }, scope),
    left: [],
    sample: first.flatMap((seq) => presentJob(state, tx, seq)?.id ?? []),
    estimatedCostUsd: estimate && costOf(state, scope, matched, estimate),
    looked: 0,
    changed: 0,
    skipped: 0,
    position: 0,
    createdAtMs: tx.nowMs,
    finishedAtMs: null,
  }
}

/** Cost in USD of running the jobs again, each for as long as its last run took; null when no job has run and none has completed. */
function costOf(state: SqlState, scope: BulkScope, matched: number, { nanosPerHour, usualMs }: RunEstimate): number | null {
  const seqs = scope.seqs?.slice(0, ESTIMATED_JOBS) ?? state.lists.seqsAfter(scope.states, scope, ESTIMATED_JOBS)
  const jobs = seqs.flatMap((seq) => state.jobs.bySeq(seq) ?? [])
  const times = jobs.flatMap((job) => lastRunMs(job) ?? usualMs ?? [])
  if (times.length === 0) return null
  const meanMs = times.reduce((sum, ms) => sum + ms, 0) / times.length
  return usdOfMicros(amountMicros(nanosPerHour, Math.round(meanMs * matched)))
}

/** JOB-47: jobs that the request names by status or id, and that the action cannot change. */
function refusedOf(
  state: SqlState,
  tx: Tx,
  action: BulkAction,
  selection: JobBulkRequest,
  asked: JobFilter,
  scope: BulkScope,
): Bulk['refused'] {
  const able: readonly JobState[] = CHANGEABLE[action]
  const states = JOB_STATES.filter((status) => !able.includes(status) && (asked.states?.includes(status) ?? true))
  const list = (counts: Bulk['byStatus']) => states.flatMap((status) => (counts[status] ? [{ status, jobs: counts[status] }] : []))
  if (!selection.ids) return list(state.lists.countByState(states, scope))
  const ids = [...new Set(selection.ids)]
  const seqs = ids.flatMap((id) => jobNumber(state, tx, id))
  const others = seqs.filter((seq) => {
    const job = state.jobs.bySeq(seq)
    return job !== null && matchesFilter(job, asked)
  })
  const unknown = ids.length - seqs.length
  return [...list(countStates(state, others)), ...(unknown > 0 ? [{ status: null, jobs: unknown }] : [])]
}

function jobNumber(state: SqlState, tx: Tx, id: string): number[] {
  const seq = parseJobSeq(id, state.meta.idMask())
  return seq !== null && presentJob(state, tx, seq)?.id === id ? [seq] : []
}

// The row of a job stays for a while after its retention (JOB-49).
function presentJob(state: SqlState, { nowMs }: Tx, seq: number): Job | null {
  const job = state.jobs.bySeq(seq)
  return job && shownJob(job, nowMs)
}

function isMeant(state: SqlState, action: BulkAction, seq: number, filter: JobFilter): boolean {
  const job = state.jobs.bySeq(seq)
  return job !== null && mayChange(action, job) && matchesFilter(job, filter)
}

function countStates(state: SqlState, seqs: readonly number[]): Bulk['byStatus'] {
  const counts: Bulk['byStatus'] = {}
  for (const seq of seqs) {
    const status = state.jobs.bySeq(seq)?.state
    if (status) counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

// DRY-30: if `dryRun` is repeated, one true value makes the call a preview.
function readPlanAsked(query: URLSearchParams): { isPlan: boolean } | { fault: string } {
  const words = query.getAll('dryRun').map((dryRun) => ({ dryRun, read: BulkQuery.safeParse({ dryRun }) }))
  const fault = words.flatMap(({ dryRun, read }) => (read.success ? [] : describeIssues(read.error.issues, { dryRun })))[0]
  return fault === undefined ? { isPlan: words.some(({ read }) => read.data?.dryRun) } : { fault }
}

function readRequest(text: string): { selection: JobBulkRequest } | { fault: string } {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return { fault: '$: the body is not JSON' }
  }
  const parsed = JobBulkRequest.safeParse(body)
  if (!parsed.success) {
    return { fault: describeIssues(parsed.error.issues, body)[0] ?? '$: is not as documented' }
  }
  const { status, from, to, ids } = parsed.data
  if (status ?? from ?? to ?? ids) return { selection: parsed.data }
  return { fault: '$: select the jobs by status, from, to or ids' }
}

function bulkView(bulk: Bulk, isPlan: boolean): JobBulk {
  const { action, finishedAtMs } = bulk
  return {
    id: isPlan ? null : bulk.id,
    action,
    status: isPlan ? 'PLANNED' : finishedAtMs === null ? 'RUNNING' : 'DONE',
    matched: bulk.matched,
    byStatus: bulk.byStatus,
    ids: bulk.sample,
    refused: bulk.refused.map(({ status, jobs }) => ({ status, jobs, reason: refusalOf(action, status) })),
    estimatedCostUsd: bulk.estimatedCostUsd,
    looked: bulk.looked,
    changed: bulk.changed,
    skipped: bulk.skipped,
    left: bulk.left,
    createdAt: formatTime(bulk.createdAtMs),
    finishedAt: finishedAtMs === null ? null : formatTime(finishedAtMs),
  }
}
