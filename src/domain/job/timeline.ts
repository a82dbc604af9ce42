import type { Worker } from '../worker/worker.ts'
import { isEnded, type Job } from './job.ts'

/**
 * The history of a job, attempt by attempt: when each phase began and ended, from its row and from the lives of its workers. Pure; times
 * are milliseconds since the epoch.
 */

/** The outcome of an attempt that was followed by another one or by a `/retry`. */
export const PAST_OUTCOMES = ['LOST', 'FAILED', 'TIMED_OUT'] as const
export type PastOutcome = (typeof PAST_OUTCOMES)[number]

/** An attempt that has ended, of a job that was queued again. */
export interface PastAttempt {
  attempt: number
  workerId: string
  startedAtMs: number
  endedAtMs: number
  outcome: PastOutcome
  reason: string | null
  /** Since when the job waited for the next attempt. */
  requeuedAtMs: number
}

/** The known life of a worker, also after it has left. */
export interface WorkerLife extends Pick<Worker, 'id' | 'createdAtMs' | 'startedAtMs' | 'gpuTypeId' | 'gpuCount' | 'dataCenterId'> {
  /** When it was placed on a host. */
  placedAtMs: number | null
  /** When it first asked for work. */
  readyAtMs: number | null
  /** When it left; null while it exists. */
  leftAtMs: number | null
}

export const PHASES = ['QUEUED', 'PLACING', 'IMAGE', 'START', 'RUNNING'] as const
export type Phase = (typeof PHASES)[number]

/** `toMs` is null while the phase lasts. */
export interface PhaseSpan {
  phase: Phase
  fromMs: number
  toMs: number | null
}

/** One attempt of a job and its times. */
export interface AttemptSpan extends Pick<PastAttempt, 'attempt' | 'workerId' | 'startedAtMs' | 'reason'> {
  endedAtMs: number | null
  outcome: PastOutcome | 'RUNNING' | 'COMPLETED' | 'CANCELLED'
  phases: PhaseSpan[]
}

/** The attempts of a job in their order, each with the wait before it. `lives`: those of its workers, as far as they are known. */
export function attemptsOf(job: Job, past: readonly PastAttempt[], lives: ReadonlyMap<string, WorkerLife>): AttemptSpan[] {
  const before = past.filter(({ attempt }) => attempt < job.attempt || job.state === 'IN_QUEUE')
  const last = lastAttempt(
    job,
    past.find(({ attempt }) => attempt === job.attempt),
  )
  const ended: Ended[] = before.map((one) => ({ ...one, endedAtMs: one.endedAtMs }))
  const all = last && !before.some(({ attempt }) => attempt === last.attempt) ? [...ended, last] : ended
  let waitedFromMs = job.createdAtMs
  return all.map((one) => {
    const phases = phasesOf(one, waitedFromMs, lives.get(one.workerId))
    waitedFromMs = past.find(({ attempt }) => attempt === one.attempt)?.requeuedAtMs ?? one.endedAtMs ?? waitedFromMs
    const { attempt, workerId, startedAtMs, endedAtMs, outcome, reason } = one
    return { attempt, workerId, startedAtMs, endedAtMs, outcome, reason, phases }
  })
}

/** How long the last attempt of an ended job ran, milliseconds; null: it has not run, or runs. */
export function lastRunMs(job: Job): number | null {
  const last = lastAttempt(job, undefined)
  return last === null || last.endedAtMs === null ? null : last.endedAtMs - last.startedAtMs
}

/** Since when a queued job waits; null if it is not queued. */
export function waitingSinceMs(job: Job, past: readonly PastAttempt[]): number | null {
  return job.state === 'IN_QUEUE' ? (past.at(-1)?.requeuedAtMs ?? job.createdAtMs) : null
}

type Ended = Omit<AttemptSpan, 'phases'>

// The row of the job has its last attempt. A lost attempt whose result arrived later ended with that result (LSE-11).
function lastAttempt(job: Job, recorded: PastAttempt | undefined): Ended | null {
  if (job.holder === null || job.startedAtMs === null || job.state === 'IN_QUEUE') return null
  const { attempt, holder, startedAtMs } = job
  const facts = { attempt, workerId: holder.workerId, startedAtMs }
  if (!isEnded(job)) return { ...facts, endedAtMs: null, outcome: 'RUNNING', reason: null }
  // The job was cancelled, or its time ran out, while it was queued again.
  const { state } = job
  if (recorded && state !== 'COMPLETED' && state !== 'FAILED') return recorded
  const outcome = state === 'COMPLETED' || state === 'CANCELLED' || state === 'TIMED_OUT' ? state : 'FAILED'
  const endedAtMs = job.lostAtMs ?? job.finishedAtMs
  return { ...facts, endedAtMs, outcome, reason: job.errorDetail ?? job.error }
}

// If a worker existed before the job waited, its phases have no length and are left out.
function phasesOf({ startedAtMs, endedAtMs }: Ended, waitedFromMs: number, life: WorkerLife | undefined): PhaseSpan[] {
  const within = (atMs: number | null | undefined, byDefault: number) => Math.min(startedAtMs, Math.max(waitedFromMs, atMs ?? byDefault))
  const created = within(life?.createdAtMs, startedAtMs)
  const placed = within(life?.placedAtMs, created)
  const started = within(life?.startedAtMs, placed)
  const ready = within(life?.readyAtMs, started)
  const spans: PhaseSpan[] = [
    { phase: 'QUEUED', fromMs: waitedFromMs, toMs: created },
    { phase: 'PLACING', fromMs: created, toMs: placed },
    { phase: 'IMAGE', fromMs: placed, toMs: started },
    { phase: 'START', fromMs: started, toMs: ready },
    { phase: 'QUEUED', fromMs: ready, toMs: startedAtMs },
    { phase: 'RUNNING', fromMs: startedAtMs, toMs: endedAtMs },
  ]
  return spans.filter(({ phase, fromMs, toMs }) => phase === 'RUNNING' || toMs === null || toMs > fromMs)
}

/** The median length of each phase over the attempts that have it; null if none has. Milliseconds. */
export function medianPhases(attempts: readonly AttemptSpan[]): Record<Phase, number | null> {
  const lengths: Record<Phase, number[]> = { QUEUED: [], PLACING: [], IMAGE: [], START: [], RUNNING: [] }
  for (const { phases } of attempts) {
    const sums = new Map<Phase, number>()
    for (const { phase, fromMs, toMs } of phases) if (toMs !== null) sums.set(phase, (sums.get(phase) ?? 0) + toMs - fromMs)
    for (const [phase, ms] of sums) lengths[phase].push(ms)
  }
  const { QUEUED, PLACING, IMAGE, START, RUNNING } = lengths
  return { QUEUED: median(QUEUED), PLACING: median(PLACING), IMAGE: median(IMAGE), START: median(START), RUNNING: median(RUNNING) }
}

function median(values: number[]): number | null {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? null
}
