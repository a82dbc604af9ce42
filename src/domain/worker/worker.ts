import type { WorkerStatus } from '../../contract/enums.ts'
import { UNSEEN_MS } from '../history/idle.ts'

/** Fields of a worker in every phase. */
interface WorkerFacts {
  id: string
  boot: string
  /** Release that it runs (END-12). */
  version: number
  /** Image of that release. */
  image: string
  gpuCount: number
  hostId: string | null
  gpuTypeId: string | null
  dataCenterId: string | null
  createdAtMs: number
  /** Time at which its container was reported running. */
  startedAtMs: number | null
  /** Whether it has ever had a job. */
  worked: boolean
  /** Reason for its state when it is not simply working: no capacity, image pull failed, crashed, … */
  reason: string | null
}

/** An outside call that is repeated until it succeeds. */
interface Retried {
  /** Time of the next call: the search for a host while PLACING, the removal in later phases. */
  nextAttemptAtMs: number
  attempts: number
}

/** Signs of life of a worker. */
interface Watched<Seen> {
  /** Time of its last ping, or at which it became ready. Takes and results are no signs of life (LSE-7). */
  lastSeenAtMs: Seen
  /** Until this instant its silence proves nothing, because its host is silent (HOST-36). */
  excusedUntilMs: number | null
  /** Time at which its queue was loaded from rows, which lack its latest pings (LSE-24); null: it has pinged since. */
  loadedAtMs: number | null
  /** Until this instant the agent of its host answers for its pings (CHN-30). In memory only; null: no agent does. */
  watchedUntilMs: number | null
}

/** A worker without a host. */
export interface PlacingWorker extends WorkerFacts, Retried {
  phase: 'PLACING'
}

/** A worker on a host that has not taken a job yet. */
export interface StartingWorker extends WorkerFacts {
  phase: 'STARTING'
}

/** A worker that takes or runs jobs. A worker that serves requests neither pings nor takes; its host checks its health. */
export interface ReadyWorker extends WorkerFacts, Watched<number | null> {
  phase: 'READY'
  /** Time of its last take. Pings alone do not prove that a worker still takes jobs. */
  lastTakeAtMs: number | null
  /** Start of its idle time; null while it holds a job or request. */
  idleSinceMs: number | null
}

/** A worker that finishes its jobs, then ends. */
export interface DrainingWorker extends WorkerFacts, Retried, Watched<number | null> {
  phase: 'DRAINING'
}

/** A crashed, unhealthy or lost worker; retained for a while so that the reason is readable. */
export interface FailedWorker extends WorkerFacts, Retried {
  phase: 'FAILED'
  /** End of the time during which it is shown. */
  forgetAtMs: number
  /** Whether it has been removed from all hosts. */
  released: boolean
}

/** A worker of an endpoint: one container, started once. Its transitions are in src/queue/worker-life.ts. */
export type Worker = PlacingWorker | StartingWorker | ReadyWorker | DrainingWorker | FailedWorker
/** State of a worker, as the queue sees it. */
export type WorkerPhase = Worker['phase']
/** A worker in one phase. */
export type WorkerIn<P extends WorkerPhase> = Extract<Worker, { phase: P }>

/** Counters of `/health`. */
export type WorkerCounts = Record<'idle' | 'initializing' | 'ready' | 'running' | 'throttled' | 'unhealthy', number>

/** A worker that the endpoint's views show, with its status. */
export interface ActiveWorker {
  worker: Worker
  status: WorkerStatus
}

/** TMO-8, from the start of the container, because pulling a large image may take longer than this. */
export const INIT_TIMEOUT_MS = 7 * 60_000
/** A take is held open for 25 s, and worker SDKs give it up after 90 s at most. */
const NO_TAKE_LIMIT_MS = 120_000
const REMOVAL_REPEAT_MIN_MS = 30_000
const REMOVAL_REPEAT_MAX_MS = 10 * 60_000
const PLACEMENT_RETRY_MIN_MS = 5_000
const PLACEMENT_RETRY_MAX_MS = 60_000
/** Time during which a failed worker is shown. */
export const FAILED_VISIBLE_MS = 10 * 60_000

/** Status of a worker by the table of SCALE-6; null for a draining worker without jobs, which is not shown. */
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

/** Whether the worker searches for a host and has found none with free capacity. */
export function isThrottled(worker: Worker): worker is PlacingWorker {
  return worker.phase === 'PLACING' && worker.attempts > 0
}

/** Whether the worker may have or get work. */
export function isLive(worker: Worker): boolean {
  return worker.phase === 'PLACING' || worker.phase === 'STARTING' || worker.phase === 'READY'
}

/** Workers of an endpoint with their statuses, without those that are not shown. Every view of the workers uses this function (HLT-3). */
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

/**
 * Instant at which an idle worker counts as stuck. It takes at least as often as a take is held open; a worker that only pings has lost its
 * loop (WRK-44).
 */
export function noTakeDueAtMs({ lastTakeAtMs, idleSinceMs }: Pick<ReadyWorker, 'lastTakeAtMs' | 'idleSinceMs'>): number {
  return lastTakeAtMs === null ? Number.POSITIVE_INFINITY : Math.max(lastTakeAtMs, idleSinceMs ?? 0) + NO_TAKE_LIMIT_MS
}

/** Delay before a host is asked again to remove a worker: it doubles up to 10 min, because the host may never return. */
export function removalRepeatMs(attempts: number): number {
  return Math.min(REMOVAL_REPEAT_MAX_MS, REMOVAL_REPEAT_MIN_MS * 2 ** Math.min(attempts, 16))
}

/** Delay before a worker without capacity searches again: it doubles up to 60 s, which limits the searches on a full fleet. */
export function placementRetryMs(attempts: number): number {
  return Math.min(PLACEMENT_RETRY_MAX_MS, PLACEMENT_RETRY_MIN_MS * 2 ** Math.max(0, attempts - 1))
}

/** Whether the silence of a worker is excused, because its host is silent too (HOST-36). */
export function isExcused(worker: Worker, nowMs: number): boolean {
  return 'excusedUntilMs' in worker && nowMs < (worker.excusedUntilMs ?? 0)
}

/**
 * LSE-7: instant at which a silent worker counts as lost: `lostAfterMs` (4 × P) after its last ping, but not before HOST-36 allows it, or
 * while the agent of its host answers for its pings (CHN-30).
 */
export function silentAtMs(worker: Watched<number | null>, lostAfterMs: number): number {
  const heardAtMs = Math.max(worker.lastSeenAtMs ?? Number.POSITIVE_INFINITY, worker.loadedAtMs ?? 0)
  return Math.max(heardAtMs + lostAfterMs, worker.excusedUntilMs ?? 0, worker.watchedUntilMs ?? 0)
}

/** Next instant at which time alone changes this worker, or null. `lostAfterMs` is 4 × P (LSE-7). `polls`: it has an open take. */
export function workerDueAtMs(worker: Worker, lostAfterMs: number, polls = false): number | null {
  switch (worker.phase) {
    case 'PLACING':
      return worker.nextAttemptAtMs
    case 'STARTING':
      return worker.startedAtMs === null ? null : worker.startedAtMs + INIT_TIMEOUT_MS
    case 'READY':
      return finite(
        Math.min(silentAtMs(worker, lostAfterMs), polls || worker.idleSinceMs === null ? Number.POSITIVE_INFINITY : noTakeDueAtMs(worker)),
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
 * Start of the idle time of a ready worker (SPD-7); null: it is busy or not ready, or it has not pinged for so long that its state is
 * unknown. A worker that serves requests does not ping, and its idle time is always known.
 */
export function knownIdleSinceMs(worker: Worker, nowMs: number): number | null {
  if (worker.phase !== 'READY' || worker.excusedUntilMs !== null) return null
  const isSeen = nowMs - (worker.lastSeenAtMs ?? nowMs) <= UNSEEN_MS || nowMs < (worker.watchedUntilMs ?? 0)
  return isSeen ? worker.idleSinceMs : null
}
