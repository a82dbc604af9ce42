import type { WindowQuery } from '../history/series.ts'
import { isThrottled, type Worker, type WorkerPhase } from './worker.ts'

/** The counts of an endpoint at an instant, and the maxima since the sample before (HIS-20). */
export interface EndpointSample extends EndpointCounts {
  atMs: number
  mostQueued: number
  mostInProgress: number
}

/** Jobs of an endpoint and its workers, by state. */
export interface EndpointCounts {
  queued: number
  inProgress: number
  starting: number
  throttled: number
  ready: number
  failed: number
}

/** The names of `EndpointCounts`, in the order of a stored sample. */
export const COUNTS = [
  'queued',
  'inProgress',
  'starting',
  'throttled',
  'ready',
  'failed',
] as const satisfies readonly (keyof EndpointCounts)[]
/** Counts that change with every job are sampled at most this often. */
const EVERY_MS = 60_000

/** The counts of an endpoint. A draining worker counts as ready: it works until it ends. */
export function countsOf(queued: number, inProgress: number, workers: readonly Worker[]): EndpointCounts {
  const counts = { queued, inProgress, starting: 0, throttled: 0, ready: 0, failed: 0 }
  for (const worker of workers) {
    if (worker.phase === 'READY' || worker.phase === 'DRAINING') counts.ready++
    else if (worker.phase === 'FAILED') counts.failed++
    else if (isThrottled(worker)) counts.throttled++
    else counts.starting++
  }
  return counts
}

/** The state between samples: the last stored sample, and the counts since. */
export interface Watch {
  noted: EndpointSample | null
  /** The counts after the last commit, not stored yet; null: equal to `noted`. */
  since: EndpointSample | null
}

/**
 * The samples to store after a commit (HIS-20): another number of workers at once, jobs once a minute, and before a change the counts that
 * had lasted for a minute or more, so that a quiet time is shown as it was.
 */
export function watchCounts({ noted, since }: Watch, counts: EndpointCounts, atMs: number): { notes: EndpointSample[]; watch: Watch } {
  const notes: EndpointSample[] = []
  let last = noted
  let most = since ?? { mostQueued: 0, mostInProgress: 0 }
  if (since && atMs - since.atMs >= EVERY_MS) {
    notes.push(since)
    last = since
    most = { mostQueued: 0, mostInProgress: 0 }
  }
  const sample = {
    ...counts,
    atMs,
    mostQueued: Math.max(most.mostQueued, counts.queued),
    mostInProgress: Math.max(most.mostInProgress, counts.inProgress),
  }
  const isSame = last ? COUNTS.every((name) => last[name] === counts[name]) : COUNTS.every((name) => counts[name] === 0)
  const hasOtherWorkers = !last || COUNTS.slice(2).some((name) => last[name] !== counts[name])
  if (isSame && sample.mostQueued <= counts.queued && sample.mostInProgress <= counts.inProgress)
    return { notes, watch: { noted: last, since: null } }
  if (last && !hasOtherWorkers && atMs - last.atMs < EVERY_MS && atMs >= last.atMs) return { notes, watch: { noted: last, since: sample } }
  return { notes: [...notes, sample], watch: { noted: sample, since: null } }
}

/** The time steps of a response. */
export interface Steps {
  fromMs: number
  stepMs: number
  count: number
}

const NICE_MS = [10_000, 60_000, 300_000, 900_000, 3_600_000, 10_800_000, 86_400_000] as const
const MAX_STEPS = 1_500
const USUAL_STEPS = 360
const KEPT_MS = 30 * 86_400_000
const DEFAULT_SPAN_MS = 86_400_000

/** The time steps for a query (HIS-21); null: the time ends before it begins. */
export function stepsOf(query: WindowQuery, nowMs: number): Steps | null {
  const toMs = Math.min(query.toMs ?? nowMs, nowMs)
  const fromMs = Math.max(query.fromMs ?? toMs - DEFAULT_SPAN_MS, nowMs - KEPT_MS)
  if ((query.fromMs ?? fromMs) >= (query.toMs ?? nowMs)) return null
  const span = Math.max(0, toMs - fromMs)
  const usual = NICE_MS.find((stepMs) => span / stepMs <= USUAL_STEPS) ?? NICE_MS[6]
  const least = Math.max(query.stepMs ?? usual, span / (MAX_STEPS - 1))
  const stepMs = Math.ceil(least / NICE_MS[0]) * NICE_MS[0]
  const first = Math.floor(fromMs / stepMs) * stepMs
  return { fromMs: first, stepMs, count: Math.max(0, Math.ceil((toMs - first) / stepMs)) }
}

/** One count over time. */
export interface CountSeries {
  name: keyof EndpointCounts
  /** The count at the end of each step; null before the first sample. */
  points: (number | null)[]
  /** The maximum within each step. */
  maxima: (number | null)[]
}

/**
 * Samples, oldest first, as columns (HIS-21). A sample holds until the next one; `samples` begins with the last one before the window, if
 * there is one.
 */
export function countSeries(samples: readonly EndpointSample[], { fromMs, stepMs, count }: Steps, nowMs: number): CountSeries[] {
  return COUNTS.map((name) => {
    const points: (number | null)[] = []
    const maxima: (number | null)[] = []
    let held: number | null = null
    let next = 0
    for (let at = 0; at < count; at++) {
      const endMs = Math.min(fromMs + (at + 1) * stepMs, nowMs + 1)
      let most = held
      for (let sample = samples[next]; sample && sample.atMs < endMs; sample = samples[++next]) {
        held = sample[name]
        const isIn = sample.atMs >= fromMs + at * stepMs
        most = Math.max(isIn ? (most ?? 0) : 0, isIn ? mostOf(sample, name) : held)
      }
      points.push(held)
      maxima.push(most)
    }
    return { name, points, maxima }
  })
}

function mostOf(sample: EndpointSample, name: keyof EndpointCounts): number {
  if (name === 'queued') return sample.mostQueued
  return name === 'inProgress' ? sample.mostInProgress : sample[name]
}

/** A change of a worker's phase or reason. */
export interface WorkerChange {
  n: number
  atMs: number
  workerId: string
  phase: WorkerPhase | 'GONE'
  reason: string | null
  release: number | null
}

/** A charged interval of a worker; `toMs` is null while it lasts. */
export interface ChargedTime {
  fromMs: number
  toMs: number | null
  nanosPerHour: number
}

/** The charges in each step, in millionths of a USD: `amount` charges part of an interval, so that the parts sum to the whole. */
export function spendSeries(
  charged: readonly ChargedTime[],
  { fromMs, stepMs, count }: Steps,
  nowMs: number,
  amount: (interval: ChargedTime, part: { fromMs: number; toMs: number }) => number,
): number[] {
  const steps = new Array<number>(count).fill(0)
  for (const interval of charged) {
    const endMs = Math.min(interval.toMs ?? nowMs, fromMs + count * stepMs)
    const first = Math.max(0, Math.floor((interval.fromMs - fromMs) / stepMs))
    for (let at = first; at < count && fromMs + at * stepMs < endMs; at++) {
      const part = { fromMs: Math.max(interval.fromMs, fromMs + at * stepMs), toMs: Math.min(endMs, fromMs + (at + 1) * stepMs) }
      if (part.toMs > part.fromMs) steps[at] = (steps[at] ?? 0) + amount(interval, part)
    }
  }
  return steps
}
