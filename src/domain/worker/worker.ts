import type { WorkerStatus } from '../../contract/enums.ts'
import { UNSEEN_MS } from '../history/idle.ts'

/** What is known of a worker in every phase. */
interface WorkerFacts {
  id: string
  boot: string
  /** Release that it runs (END-12). */
  version: number
  /** Of that release. */
  image: string
  gpuCount: number
  hostId: string | null
  gpuTypeId: string | null
  dataCenterId: string | null
  createdAtMs: number
  /** When its container was reported running. */
  startedAtMs: number | null
  /** It has been given a job. */
  worked: boolean
  /** Why it is not simply working: no capacity, image pull failed, crashed, … */
  reason: string | null
}

/** An outside call that is repeated until it is answered. */
interface Retried {
  /** When to call again: for a host while PLACING, for the removal afterwards. */
  nextAttemptAtMs: number
  attempts: number
}

/** What its pings have shown. */
interface Watched<Seen> {
  /** Its last ping, or when it became ready. Takes and results prove no life (LSE-7). */
  lastSeenAtMs: Seen
  /** Its silence is that of its host: until then it proves nothing (HOST-36). */
  excusedUntilMs: number | null
  /** When its queue was loaded anew, which does not know of later pings than its row has (LSE-24); null: it has pinged since. */
  loadedAtMs: number | null
}

/** No host yet. */
export interface PlacingWorker extends WorkerFacts, Retried {
  phase: 'PLACING'
}

/** On a host, no take seen. */
export interface StartingWorker extends WorkerFacts {
  phase: 'STARTING'
}

/** Asks for work or does it. One that serves requests neither pings nor takes: its host asks it how it is. */
export interface ReadyWorker extends WorkerFacts, Watched<number | null> {
  phase: 'READY'
  /** Its last take; pings alone do not prove that a worker still asks for work. */
  lastTakeAtMs: number | null
  /** Since when it holds no job or request; null while it holds one. */
  idleSinceMs: number | null
}

/** Finishes what it holds, then ends. */
export interface DrainingWorker extends WorkerFacts, Retried, Watched<number | null> {
  phase: 'DRAINING'
}

/** Crashed, unhealthy or lost; kept for a while so that the reason is readable. */
export interface FailedWorker extends WorkerFacts, Retried {
  phase: 'FAILED'
  /** Until when it is shown. */
  forgetAtMs: number
  /** Nothing of it is left on any host. */
  released: boolean
}

/** A worker of an endpoint: one container, started once. What it may become is in src/queue/worker-life.ts. */
export type Worker = PlacingWorker | StartingWorker | ReadyWorker | DrainingWorker | FailedWorker
export type WorkerPhase = Worker['phase']
/** A worker in one phase. */
export type WorkerIn<P extends WorkerPhase> = Extract<Worker, { phase: P }>

/** Counters of `/health`. */
export type WorkerCounts = Record<'idle' | 'initializing' | 'ready' | 'running' | 'throttled' | 'unhealthy', number>

/** A worker as the world sees it: one that takes part in something. */
export interface ActiveWorker {
  worker: Worker
  status: WorkerStatus
}

/** TMO-8, from the start of the container: a large image may take longer than this to pull. */
export const INIT_TIMEOUT_MS = 7 * 60_000
/** A take is held 25 s and given up by worker SDKs after 90 s at most. */
const NO_TAKE_LIMIT_MS = 120_000
const REMOVAL_REPEAT_MIN_MS = 30_000
const REMOVAL_REPEAT_MAX_MS = 10 * 60_000
const PLACEMENT_RETRY_MIN_MS = 5_000
const PLACEMENT_RETRY_MAX_MS = 60_000
/** How long a failed worker stays visible. */
export const FAILED_VISIBLE_MS = 10 * 60_000

/** SCALE-6's table. A draining worker without jobs takes part in nothing any more: null. */
function workerStatus(worker: Worker, held: number): WorkerStatus | null {
  switch (worker.phase) {
    case 'PLACING':
      return isThrottled(worker) ? 'THROTTLED' : 'INITIALIZING'
    case 'STARTING':
      return 'INITIALIZING'
    case 'READY':
      return held > 0 ? 'RUNNING' : 'IDLE'
    case 'DRAINING':
      return held > 0 ? 'RUNNING' : null
    case 'FAILED':
      return 'UNHEALTHY'
    default:
      return worker satisfies never
  }
}

/** It looks for a host and has found none with room. */
export function isThrottled(worker: Worker): worker is PlacingWorker {
  return worker.phase === 'PLACING' && worker.attempts > 0
}

/** It has work or may get some. */
export function isLive(worker: Worker): boolean {
  return worker.phase === 'PLACING' || worker.phase === 'STARTING' || worker.phase === 'READY'
}

/** The workers that take part in something, with their statuses. Every view of an endpoint's workers comes from here (HLT-3). */
export function activeWorkers(workers: readonly Worker[], held: ReadonlyMap<string, number>): ActiveWorker[] {
  return workers.flatMap((worker) => {
    const status = workerStatus(worker, held.get(worker.id) ?? 0)
    return status === null ? [] : [{ worker, status }]
  })
}

/** Counters of `/health` (HLT-1, HLT-2): an idle worker counts in `ready` too. */
export function countWorkers(workers: readonly Worker[], held: ReadonlyMap<string, number>): WorkerCounts {
  const counts = { idle: 0, initializing: 0, ready: 0, running: 0, throttled: 0, unhealthy: 0 }
  for (const { status } of activeWorkers(workers, held)) {
    counts[status.toLowerCase() as Lowercase<typeof status>]++
    if (status === 'IDLE') counts.ready++
  }
  return counts
}

/** An idle worker asks again at least as often as a take is held; one that only pings has lost its loop (PP-28). */
export function noTakeDueAtMs({ lastTakeAtMs, idleSinceMs }: Pick<ReadyWorker, 'lastTakeAtMs' | 'idleSinceMs'>): number {
  return lastTakeAtMs === null ? Number.POSITIVE_INFINITY : Math.max(lastTakeAtMs, idleSinceMs ?? 0) + NO_TAKE_LIMIT_MS
}

/** When a host is asked again to remove a worker: rarely, in the end, for one that may never return. */
export function removalRepeatMs(attempts: number): number {
  return Math.min(REMOVAL_REPEAT_MAX_MS, REMOVAL_REPEAT_MIN_MS * 2 ** Math.min(attempts, 16))
}

/** When a worker that found no capacity tries again: doubling, bounded, so that a full fleet is not polled to death. */
export function placementRetryMs(attempts: number): number {
  return Math.min(PLACEMENT_RETRY_MAX_MS, PLACEMENT_RETRY_MIN_MS * 2 ** Math.max(0, attempts - 1))
}

/** Its host is silent, and it is waited for (HOST-36). */
export function isExcused(worker: Worker, nowMs: number): boolean {
  return 'excusedUntilMs' in worker && nowMs < (worker.excusedUntilMs ?? 0)
}

/** LSE-7: when a worker that does not ping any more counts as lost, `lostAfterMs` (4 × P) after its last ping, not before HOST-36 allows it. */
export function silentAtMs(worker: Watched<number | null>, lostAfterMs: number): number {
  const heardAtMs = Math.max(worker.lastSeenAtMs ?? Number.POSITIVE_INFINITY, worker.loadedAtMs ?? 0)
  return Math.max(heardAtMs + lostAfterMs, worker.excusedUntilMs ?? 0)
}

/** The next instant at which time alone changes this worker, or null. `lostAfterMs` is 4 × P (LSE-7). */
export function workerDueAtMs(worker: Worker, lostAfterMs: number): number | null {
  switch (worker.phase) {
    case 'PLACING':
      return worker.nextAttemptAtMs
    case 'STARTING':
      return worker.startedAtMs === null ? null : worker.startedAtMs + INIT_TIMEOUT_MS
    case 'READY':
      return finite(
        Math.min(silentAtMs(worker, lostAfterMs), worker.idleSinceMs === null ? Number.POSITIVE_INFINITY : noTakeDueAtMs(worker)),
      )
    case 'DRAINING':
      return worker.nextAttemptAtMs
    case 'FAILED':
      return worker.released ? worker.forgetAtMs : Math.min(worker.nextAttemptAtMs, worker.forgetAtMs)
    default:
      return worker satisfies never
  }
}

function finite(atMs: number): number | null {
  return Number.isFinite(atMs) ? atMs : null
}

/**
 * Since when a worker that asks for work has none (SPD-7); null: it has, it is not ready, or it has not pinged for so long that nobody knows.
 * One that serves requests does not ping: what it holds is known here alone.
 */
export function knownIdleSinceMs(worker: Worker, nowMs: number): number | null {
  if (worker.phase !== 'READY' || worker.excusedUntilMs !== null) return null
  return nowMs - (worker.lastSeenAtMs ?? nowMs) > UNSEEN_MS ? null : worker.idleSinceMs
}
