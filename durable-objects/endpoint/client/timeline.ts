import type { JobCall } from '../../../src/contract/jobs/job-routes.ts'
import { type JobAttempt, type JobTimeline, SHOWN_INPUT_BYTES } from '../../../src/contract/jobs/timeline.ts'
import { MERGED_WORKERS_MAX } from '../../../src/contract/logs/merged.ts'
import { readWorkerRates, type WorkerRate } from '../../../src/db/billing/worker-rates.ts'
import { openDatabase } from '../../../src/db/client.ts'
import { endedAtMs, type Job } from '../../../src/domain/job/job.ts'
import { type AttemptSpan, attemptsOf, medianPhases, type WorkerLife, waitingSinceMs } from '../../../src/domain/job/timeline.ts'
import { partMicros, usdOfMicros, usdOfNanos } from '../../../src/domain/money.ts'
import { logEvent } from '../../../src/platform/log.ts'
import { INPUT } from '../../../src/queue/state.ts'
import type { WorkerSpan } from '../../../src/rpc/endpoint.ts'
import { jsonReply } from '../../../src/rpc/plain-reply.ts'
import type { Clock, Jobs, Outboxes, Outside, Rows } from '../parts.ts'
import { jobNotFound } from '../replies.ts'
import type { SqlState } from '../store/sql-state.ts'
import { MAX_SCANNED } from './job-list.ts'

/** Largest number of attempts shown per job. */
const MAX_ATTEMPTS = 50
/** Completed jobs whose phases form the medians. */
const COMPARED_JOBS = 200
/** Number of the newest workers whose rates are read for an estimate. */
const ESTIMATED_BY = 10

/** `/timeline/<job>` (JOB-43): loads the rows; the domain decides the phases. */
export async function timeline(core: Clock & Jobs & Outboxes & Outside & Rows, call: JobCall): Promise<Response> {
  const job = await core.findJob(call.jobId)
  const config = core.config()
  if (!job || !config) return jobNotFound()
  const past = core.state.attempts.of(job.seq, MAX_ATTEMPTS)
  const lives = core.state.workers.lives.of([...past.map(({ workerId }) => workerId), ...(job.holder ? [job.holder.workerId] : [])])
  const attempts = attemptsOf(job, past, lives).slice(-MAX_ATTEMPTS)
  const medians = medianPhases(comparedAttempts(core.state))
  const ids = [...new Set(attempts.map(({ workerId }) => workerId))]
  const [rates, webhooks] = await Promise.all([ratesOf(core, config.teamId, ids), core.outbox.deliveriesOf(job)])
  const nowMs = core.now()
  const shown = attempts.map((attempt) => attemptView(attempt, lives.get(attempt.workerId), rates, nowMs))
  const reply: JobTimeline = {
    id: job.id,
    status: job.state,
    createdAt: timeText(job.createdAtMs),
    finishedAt: timeOrNull(endedAtMs(job)),
    input: inputOf(core.state, job),
    waitingSince: timeOrNull(waitingSinceMs(job, past)),
    chunks: job.chunks,
    costUsd: sumOf(shown.map(({ costUsd }) => costUsd)),
    attempts: shown,
    medians,
    webhooks,
  }
  return jsonReply(JSON.stringify(reply))
}

/** JOB-48: the beginning of the job's input, available while the job may run again (CTL-2). Sealed values are not part of it. */
function inputOf({ payloads }: SqlState, { seq }: Job): JobTimeline['input'] {
  const begin = payloads.beginning(seq, INPUT, SHOWN_INPUT_BYTES)
  return begin && { json: begin.text, bytes: begin.bytes, isWhole: begin.bytes <= SHOWN_INPUT_BYTES }
}

/** LOG-34: worker lifetimes whose logs form an endpoint's log, or with a job those of its attempts. Null: no such job. */
export async function workerSpans(core: Jobs & Rows, jobId: string | null): Promise<WorkerSpan[] | null> {
  const { workers, attempts } = core.state
  const isKnown = (workerId: string) => workers.get(workerId) !== null
  if (jobId === null) {
    const newest = workers.lives.newest(MERGED_WORKERS_MAX)
    return newest.map(({ id, createdAtMs, leftAtMs }) => ({ workerId: id, isKnown: isKnown(id), fromMs: createdAtMs, toMs: leftAtMs }))
  }
  const job = await core.findJob(jobId)
  if (!job) return null
  return attemptsOf(job, attempts.of(job.seq, MAX_ATTEMPTS), new Map()).map(({ workerId, startedAtMs, endedAtMs }) => ({
    workerId,
    isKnown: isKnown(workerId),
    fromMs: startedAtMs,
    toMs: endedAtMs === null ? null : endedAtMs + 1,
  }))
}

/** Rate and time from which the cost of running jobs again is estimated. */
export interface RunEstimate {
  /** Rate of the newest worker. */
  nanosPerHour: number
  /** Median running time of completed jobs, for a job that has not run; null when none has completed. */
  usualMs: number | null
}

/** Returns the rate and time of present runs; null when no rate is known. */
export async function readRunEstimate(core: Outside & Rows): Promise<RunEstimate | null> {
  const config = core.config()
  if (!config) return null
  const ids = core.state.workers.lives.newest(ESTIMATED_BY).map(({ id }) => id)
  const [newest] = (await ratesOf(core, config.teamId, ids)).sort((a, b) => b.fromMs - a.fromMs)
  if (!newest) return null
  return { nanosPerHour: newest.nanosPerHour, usualMs: medianPhases(comparedAttempts(core.state)).RUNNING }
}

/** Attempts of the newest completed jobs that needed a single attempt. */
function comparedAttempts(state: SqlState): AttemptSpan[] {
  const { jobs: rows, lists, workers } = state
  const newest = lists.completed(state.newestCompleted() ?? rows.lastSequence, MAX_SCANNED, COMPARED_JOBS)
  const jobs: Job[] = newest.filter(({ attempt }) => attempt === 1)
  const lives = workers.lives.of(jobs.flatMap(({ holder }) => (holder ? [holder.workerId] : [])))
  return jobs.flatMap((job) => attemptsOf(job, [], lives))
}

// The reply is useful without rates.
async function ratesOf(core: Outside, teamId: string, workerIds: string[]): Promise<WorkerRate[]> {
  return readWorkerRates(openDatabase(core.env.DB), teamId, workerIds).catch((error: unknown) => {
    logEvent('warn', 'rates of workers could not be read', { error })
    return []
  })
}

function attemptView(attempt: AttemptSpan, life: WorkerLife | undefined, rates: readonly WorkerRate[], nowMs: number): JobAttempt {
  const { workerId, startedAtMs, endedAtMs } = attempt
  const own = rates.filter((rate) => rate.workerId === workerId)
  const micros = own.map((rate) => microsOf(rate, startedAtMs, endedAtMs ?? nowMs))
  return {
    attempt: attempt.attempt,
    worker: {
      id: workerId,
      gpuTypeId: life?.gpuTypeId ?? null,
      gpuCount: life?.gpuCount ?? null,
      dataCenterId: life?.dataCenterId ?? null,
    },
    startedAt: timeText(startedAtMs),
    endedAt: timeOrNull(endedAtMs),
    outcome: attempt.outcome,
    reason: attempt.reason,
    phases: attempt.phases.map(({ phase, fromMs, toMs }) => ({
      phase,
      from: timeText(fromMs),
      to: timeOrNull(toMs),
      ms: Math.max(0, (toMs ?? nowMs) - fromMs),
    })),
    usdPerHour: own[0] ? usdOfNanos(own[0].nanosPerHour) : null,
    costUsd: own.length === 0 ? null : usdOfMicros(micros.reduce((sum, part) => sum + part, 0)),
    // `until` is exclusive; one more millisecond includes the last one.
    logs: { workerId, since: timeText(startedAtMs), until: timeOrNull(endedAtMs === null ? null : endedAtMs + 1) },
  }
}

function microsOf({ fromMs, toMs, nanosPerHour }: WorkerRate, startedAtMs: number, endedAtMs: number): number {
  const part = { fromMs: Math.max(fromMs, startedAtMs), toMs: Math.min(toMs ?? endedAtMs, endedAtMs) }
  return part.toMs <= part.fromMs ? 0 : partMicros(nanosPerHour, fromMs, part)
}

function sumOf(parts: readonly (number | null)[]): number | null {
  const known = parts.filter((part) => part !== null)
  return known.length < parts.length ? null : usdOfMicros(Math.round(known.reduce((sum, part) => sum + part * 1_000_000, 0)))
}

function timeText(atMs: number): string {
  return new Date(atMs).toISOString()
}

function timeOrNull(atMs: number | null): string | null {
  return atMs === null ? null : timeText(atMs)
}
