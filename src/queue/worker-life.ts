import {
  type DrainingWorker,
  FAILED_VISIBLE_MS,
  type FailedWorker,
  type ReadyWorker,
  removalRepeatMs,
  type Worker,
  type WorkerIn,
  type WorkerPhase,
} from '../domain/worker/worker.ts'

/**
 * State machine of a worker as one table: its next state by phase and event. PLACING → STARTING → READY → DRAINING → removed; FAILED is
 * reachable from every phase but itself. An event without an entry for the phase changes nothing. In the descriptions of the events, *it*
 * is the worker.
 */
export type WorkerEvent =
  /** It was placed on a host. */
  | { kind: 'placed'; hostId: string; gpuTypeId: string | null; dataCenterId: string }
  /** No host has free capacity. */
  | { kind: 'no capacity'; reason: string; retryAtMs: number }
  /** Capacity may have become free, or can be freed. */
  | { kind: 'retry placement'; atMs: number }
  /** Its host reports the progress of the start. */
  | { kind: 'progress'; reason: string }
  /** Its container runs. */
  | { kind: 'running' }
  /** It serves requests, and its health check succeeds (LB-7). */
  | { kind: 'healthy' }
  /** Its health check fails or is not answered. */
  | { kind: 'unhealthy'; reason: string }
  /** It asked for work. */
  | { kind: 'take' }
  | { kind: 'ping' }
  /** Its queue was loaded from rows, which lack its latest pings (LSE-24). `isTrusted`: the agent of its host answered for them. `lastEndMs`: end of the endpoint's last job. */
  | { kind: 'loaded'; holdsJobs: boolean; isTrusted: boolean; lastEndMs: number | null }
  /** The agent of its host answers for its pings until then (CHN-30). */
  | { kind: 'watched'; untilMs: number }
  /** No agent answers for its pings any more. `seenAtMs`: the time of the last one. */
  | { kind: 'unwatched'; seenAtMs: number }
  /** It was given a job. */
  | { kind: 'busy' }
  /** It holds no job or request. `polls`: its take has been open meanwhile. */
  | { kind: 'idle'; polls: boolean }
  /** Its host is silent: until then its own silence proves nothing (HOST-36). */
  | { kind: 'host silent'; untilMs: number }
  /** Its host is back, so its own silence counts again after `untilMs`. */
  | { kind: 'host returned'; untilMs: number }
  /** It gets no more work, and ends when it holds none (WRK-29). */
  | { kind: 'drain'; reason: string }
  /** It crashed, was lost or reports itself unhealthy. */
  | { kind: 'fail'; reason: string }
  /** The platform ends it without a grace, and it is not shown as failed. */
  | { kind: 'kill'; reason: string }
  /** Its host was asked to remove it and has not done so yet. */
  | { kind: 'removal requested' }
  /** It has been removed from all hosts. */
  | { kind: 'released' }
  /** The time during which its failure is shown is over. */
  | { kind: 'hide' }

type EventOf<K extends WorkerEvent['kind']> = Extract<WorkerEvent, { kind: K }>
/** Next state of a worker; `null` when its row is removed. */
type Next = Worker | null
type Step<P extends WorkerPhase, K extends WorkerEvent['kind']> = (worker: WorkerIn<P>, event: EventOf<K>, nowMs: number) => Next
type Life = { readonly [P in WorkerPhase]: { readonly [K in WorkerEvent['kind']]?: Step<P, K> } }

const NEVER_SEEN = { lastSeenAtMs: null, excusedUntilMs: null, loadedAtMs: null, watchedUntilMs: null }

const LIFE: Life = {
  PLACING: {
    placed: (worker, { hostId, gpuTypeId, dataCenterId }) => ({
      ...factsOf(worker),
      phase: 'STARTING',
      hostId,
      gpuTypeId,
      dataCenterId,
      reason: 'starting',
    }),
    'no capacity': (worker, { reason, retryAtMs }) => ({ ...worker, attempts: worker.attempts + 1, reason, nextAttemptAtMs: retryAtMs }),
    'retry placement': (worker, { atMs }) => ({ ...worker, nextAttemptAtMs: atMs }),
    // The host's report may arrive before the answer to the placement.
    running: (worker, _, nowMs) => ({ ...worker, startedAtMs: nowMs, reason: 'waiting for its first take' }),
    drain,
    fail,
    kill,
  },
  STARTING: {
    progress: (worker, { reason }) => ({ ...worker, reason }),
    running: (worker, _, nowMs) => ({ ...worker, startedAtMs: nowMs, reason: 'waiting for its first take' }),
    take: (worker, _, nowMs) => ({
      ...worker,
      phase: 'READY',
      startedAtMs: worker.startedAtMs ?? nowMs,
      reason: null,
      lastSeenAtMs: nowMs,
      lastTakeAtMs: nowMs,
      idleSinceMs: nowMs,
      excusedUntilMs: null,
      loadedAtMs: null,
      watchedUntilMs: null,
    }),
    healthy: (worker, _, nowMs) => ({
      ...worker,
      phase: 'READY',
      startedAtMs: worker.startedAtMs ?? nowMs,
      reason: null,
      ...NEVER_SEEN,
      lastTakeAtMs: null,
      idleSinceMs: nowMs,
    }),
    unhealthy: (worker, { reason }) => ({ ...worker, reason }),
    drain,
    fail,
    kill,
  },
  READY: {
    take: (worker, _, nowMs) => ({ ...worker, lastTakeAtMs: nowMs }),
    // It gets no request until it is healthy again, and has as much time for that as for its start.
    unhealthy: (worker, { reason }, nowMs) => ({ ...factsOf(worker), phase: 'STARTING', startedAtMs: nowMs, reason }),
    ping: seen,
    loaded: (worker, event, nowMs) => {
      const next = loaded(worker, event, nowMs)
      // A row without an idle time does not say whether the worker was idle; its idle time starts here, unless the queue only rested.
      const isUnknown = worker.idleSinceMs === null && worker.lastSeenAtMs !== null && !event.holdsJobs
      return isUnknown ? { ...next, idleSinceMs: event.isTrusted ? restedSinceMs(worker, event, nowMs) : nowMs } : next
    },
    watched,
    unwatched,
    busy: (worker) => ({ ...worker, idleSinceMs: null, worked: true }),
    // An open take is still asking for work, and the time of the last take is the only one that its row is sure to have.
    idle: (worker, { polls }, nowMs) => ({ ...worker, idleSinceMs: nowMs, lastTakeAtMs: polls ? nowMs : worker.lastTakeAtMs }),
    'host silent': hostSilent,
    'host returned': hostReturned,
    drain,
    fail,
    kill,
  },
  DRAINING: {
    ping: seen,
    loaded,
    watched,
    unwatched,
    'host silent': hostSilent,
    'host returned': hostReturned,
    fail,
    kill,
    'removal requested': requestAgain,
    released: () => null,
  },
  FAILED: {
    'removal requested': requestAgain,
    released: (worker) => ({ ...worker, released: true }),
    // A worker whose removal its host has not confirmed is hidden, and its removal is still requested.
    hide: (worker) => (worker.released ? null : unseen(worker)),
  },
}

/** Next state of a worker after an event; `null` when its row is removed, the same object when nothing changes. */
export function nextWorker(worker: Worker, event: WorkerEvent, nowMs: number): Worker | null {
  // The table pairs each phase with its own steps; TypeScript cannot express that pairing for a union of phases.
  const step = LIFE[worker.phase][event.kind] as ((worker: Worker, event: WorkerEvent, nowMs: number) => Next) | undefined
  return step ? step(worker, event, nowMs) : worker
}

function seen<W extends ReadyWorker | DrainingWorker>(worker: W, _: EventOf<'ping'>, nowMs: number): W {
  return { ...worker, lastSeenAtMs: nowMs, loadedAtMs: null }
}

// Set only once until the worker pings again; otherwise a queue that is loaded often would wait forever for a worker that is gone.
function loaded<W extends ReadyWorker | DrainingWorker>(worker: W, { isTrusted }: EventOf<'loaded'>, nowMs: number): W {
  return isTrusted || worker.lastSeenAtMs === null || worker.loadedAtMs !== null ? worker : { ...worker, loadedAtMs: nowMs }
}

function watched<W extends ReadyWorker | DrainingWorker>(worker: W, { untilMs }: EventOf<'watched'>): W {
  return worker.lastSeenAtMs === null ? worker : { ...worker, watchedUntilMs: untilMs }
}

function unwatched<W extends ReadyWorker | DrainingWorker>(worker: W, { seenAtMs }: EventOf<'unwatched'>): W {
  if (worker.watchedUntilMs === null) return worker
  const lastMs = Math.max(worker.lastSeenAtMs ?? 0, seenAtMs)
  // Its row says so, too: a queue that is loaded from rows does not trust it again.
  return { ...worker, watchedUntilMs: null, lastSeenAtMs: lastMs, loadedAtMs: lastMs }
}

// No job of the worker ended after the last one of the endpoint, and its last take is in its row to the minute.
function restedSinceMs({ lastTakeAtMs }: ReadyWorker, { lastEndMs }: EventOf<'loaded'>, nowMs: number): number {
  return Math.min(nowMs, Math.max(lastTakeAtMs ?? 0, lastEndMs ?? nowMs))
}

function hostSilent<W extends ReadyWorker | DrainingWorker>(worker: W, { untilMs }: EventOf<'host silent'>): W {
  return { ...worker, excusedUntilMs: Math.max(worker.excusedUntilMs ?? 0, untilMs) }
}

function hostReturned<W extends ReadyWorker | DrainingWorker>(worker: W, { untilMs }: EventOf<'host returned'>): W {
  if (worker.excusedUntilMs === null) return worker
  // A worker that does not ping needs no further time.
  return { ...worker, excusedUntilMs: worker.lastSeenAtMs === null ? null : untilMs }
}

function drain(worker: WorkerIn<'PLACING' | 'STARTING' | 'READY'>, { reason }: EventOf<'drain'>, nowMs: number): DrainingWorker {
  const { lastSeenAtMs, excusedUntilMs, loadedAtMs, watchedUntilMs } = worker.phase === 'READY' ? worker : NEVER_SEEN
  const watch = { lastSeenAtMs, excusedUntilMs, loadedAtMs, watchedUntilMs }
  return { ...factsOf(worker), phase: 'DRAINING', reason, nextAttemptAtMs: nowMs, attempts: 0, ...watch }
}

function unseen(worker: FailedWorker): DrainingWorker {
  const { nextAttemptAtMs, attempts } = worker
  return { ...factsOf(worker), phase: 'DRAINING', nextAttemptAtMs, attempts, ...NEVER_SEEN }
}

function fail(worker: Worker, { reason }: EventOf<'fail'>, nowMs: number): FailedWorker {
  return toFailed(worker, reason, nowMs, nowMs + FAILED_VISIBLE_MS)
}

function kill(worker: Worker, { reason }: EventOf<'kill'>, nowMs: number): FailedWorker {
  return toFailed(worker, reason, nowMs, nowMs)
}

function toFailed(worker: Worker, reason: string, nowMs: number, forgetAtMs: number): FailedWorker {
  return { ...factsOf(worker), phase: 'FAILED', reason, nextAttemptAtMs: nowMs, attempts: 0, forgetAtMs, released: false }
}

function requestAgain<W extends DrainingWorker | FailedWorker>(worker: W, _: EventOf<'removal requested'>, nowMs: number): W {
  return { ...worker, attempts: worker.attempts + 1, nextAttemptAtMs: nowMs + removalRepeatMs(worker.attempts) }
}

function factsOf(worker: Worker) {
  const { id, boot, version, image, gpuCount, hostId, gpuTypeId, dataCenterId, createdAtMs, startedAtMs, worked, reason } = worker
  return { id, boot, version, image, gpuCount, hostId, gpuTypeId, dataCenterId, createdAtMs, startedAtMs, worked, reason }
}
