import { dueAtMs, type RunningJob } from '../domain/job/job.ts'
import { restartLease, UNCONFIRMED } from '../domain/job/lease.ts'
import { type DrainingWorker, noTakeDueAtMs, type ReadyWorker, silentAtMs, type Worker, workerDueAtMs } from '../domain/worker/worker.ts'
import { SILENCE_MIN_MS } from '../host-protocol/silence.ts'
import { deleteCorrupted } from './jobs.ts'
import { isTrusted, isWatched, recallAtMs, recallEnding } from './standing.ts'
import type { QueueState } from './state.ts'
import { applyJobDeadlines, endLeases, failWorker, isSilent, LOST, silenceReason } from './transitions.ts'
import type { Tx } from './tx.ts'
import { applyWorkerEvent, heldCounts, silenceLimitMs } from './worker-rows.ts'
import { finishesByMs } from './workers/outside-calls.ts'

/** All deadlines of a queue. Their columns are authoritative; an alarm only triggers the check. */

/** Jobs whose deadlines one commit applies; the others follow at once in the next commit. */
export const DUE_BATCH = 200
/** An outside call that takes longer than this is checked again. */
const IN_FLIGHT_LIMIT_MS = 30_000
/** An alarm that is late by this many ping intervals means that the plane itself was down. */
const OUTAGE_INTERVALS = 2

/** Applies every deadline that has passed. */
export function applyDeadlines(tx: Tx): void {
  const { jobs, workers, outbox } = tx.state
  // Reads each job anew by its number, because the deadline of one job may fail its worker and so end the leases of later ones.
  const isEnough = outbox.meter()
  for (const seq of jobs.due(tx.nowMs, DUE_BATCH)) {
    if (isEnough()) break
    // A corrupted row would wake the queue for ever (JOB-24).
    if (!applyJobDeadlines(tx, seq)) deleteCorrupted(tx, seq)
  }
  for (const { id } of workers.all()) applyWorkerDeadlines(tx, workers.get(id))
  recallEnding(tx)
  tx.effects.scale = true
}

function applyWorkerDeadlines(tx: Tx, worker: Worker | null): void {
  if (!worker) return
  if (worker.phase === 'DRAINING') {
    endSilentDraining(tx, worker)
    return
  }
  const dueAtMs = workerDueAtMs(worker, silenceLimitMs(tx.state), asksForWork(tx.state, worker, tx.nowMs))
  if (dueAtMs === null || tx.nowMs < dueAtMs) return
  if (worker.phase === 'STARTING') failWorker(tx, worker, lateReason(tx, worker.reason))
  if (worker.phase === 'READY') failSilentReady(tx, worker)
  if (worker.phase === 'FAILED' && tx.nowMs >= worker.forgetAtMs) applyWorkerEvent(tx, worker.id, { kind: 'hide' })
}

function lateReason({ state }: Tx, reason: string | null): string {
  if (state.meta.config()?.type !== 'LOAD_BALANCER') return 'the worker did not request work within 7 minutes of its start'
  return `the worker was not healthy within 7 minutes${reason === null ? '' : `: ${reason}`}`
}

// LSE-7: the container is being removed anyway, but its jobs do not wait for that.
function endSilentDraining(tx: Tx, worker: DrainingWorker): void {
  if (isSilent(tx, worker)) endLeases(tx, worker.id, silenceReason(tx.state), LOST)
}

function failSilentReady(tx: Tx, worker: ReadyWorker): void {
  if (isSilent(tx, worker)) failWorker(tx, worker, silenceReason(tx.state))
  else if (!asksForWork(tx.state, worker, tx.nowMs) && tx.nowMs >= noTakeDueAtMs(worker))
    failWorker(tx, worker, 'it sends pings, but does not request work')
}

// An open take lasts as long as it is open. A channel that has outlived the memory of the queue may have one.
function asksForWork(state: QueueState, worker: Worker, nowMs: number): boolean {
  return state.takes.isPolling(worker.id) || isTrusted(state, worker, nowMs)
}

/**
 * Earliest instant at which time alone changes a job or a worker, or null. Workers in `inFlight` have an outside call in progress, which
 * ends in a commit of its own; waking for them before that would spin.
 */
export function nextDueAtMs(state: QueueState, nowMs: number, inFlight: ReadonlySet<string>): number | null {
  const held = heldCounts(state)
  const dues = state.workers.all().map((worker) => workerWakeAtMs(state, worker, held, nowMs, inFlight))
  return earliest([state.jobs.nextDueAtMs((job) => leaseWakeAtMs(state, job)), ...dues])
}

// A worker sends each ping until it has shown its new job (LSE-2), and the agent says when there are none; these pings apply the deadline.
function leaseWakeAtMs({ workers }: QueueState, job: RunningJob): number {
  const worker = job.leaseEndReason === UNCONFIRMED ? workers.get(job.holder.workerId) : null
  return dueAtMs(worker && isWatched(worker) ? { ...job, leaseUntilMs: worker.watchedUntilMs } : job)
}

// A draining worker is removed once its last job has ended; until then only its silence is watched.
function workerWakeAtMs(
  state: QueueState,
  worker: Worker,
  held: ReadonlyMap<string, number>,
  nowMs: number,
  inFlight: ReadonlySet<string>,
): number | null {
  const lostAfterMs = silenceLimitMs(state)
  const isFinishing = worker.phase === 'DRAINING' && held.has(worker.id)
  const ownAtMs = isFinishing
    ? finite(Math.min(silentAtMs(worker, lostAfterMs), finishesByMs(state, worker)))
    : workerDueAtMs(worker, lostAfterMs, asksForWork(state, worker, nowMs))
  const recalledAtMs = recallAtMs(state, worker)
  const dueAtMs = recalledAtMs === null || recalledAtMs <= nowMs ? ownAtMs : earliest([ownAtMs, recalledAtMs])
  return dueAtMs !== null && inFlight.has(worker.id) ? Math.max(dueAtMs, nowMs + IN_FLIGHT_LIMIT_MS) : dueAtMs
}

function finite(atMs: number): number | null {
  return Number.isFinite(atMs) ? atMs : null
}

/** Earliest of several instants; null when there is none. */
export function earliest(timesMs: readonly (number | null)[]): number | null {
  const known = timesMs.filter((atMs) => atMs !== null)
  return known.length === 0 ? null : Math.min(...known)
}

/**
 * LSE-34: after an outage of the plane itself (its alarm is far overdue), the silence of workers proves nothing: their leases and deadlines
 * restart once. Their hosts have to reconnect first, so each gets at least the time of a silent host (HOST-36).
 */
export function absorbOutage(tx: Tx): void {
  const { state, nowMs } = tx
  if (!isOutage(tx)) return
  state.meta.setAlarmAtMs(null)
  const untilMs = nowMs + Math.max(silenceLimitMs(state), SILENCE_MIN_MS)
  for (const job of state.jobs.running()) state.jobs.save(job, restartLease(job, untilMs))
  for (const worker of state.workers.all()) {
    excuseWorker(tx, worker, untilMs)
    tx.effects.recalls.add(worker.id)
  }
}

/** Whether the alarm is so late that the plane itself must have been down. */
export function isOutage({ state, nowMs }: Pick<Tx, 'state' | 'nowMs'>): boolean {
  const armed = state.meta.alarmAtMs()
  return armed !== null && nowMs - armed >= OUTAGE_INTERVALS * state.pingIntervalMs
}

/** Gives a worker until `untilMs` to ping, because its silence until now proves nothing. */
export function excuseWorker(tx: Tx, worker: Worker, untilMs: number): void {
  // A worker that serves requests, or was still starting, has no pings or takes to miss.
  if (!('lastSeenAtMs' in worker) || worker.lastSeenAtMs === null) return
  applyWorkerEvent(tx, worker.id, { kind: 'ping' })
  if (untilMs > tx.nowMs + silenceLimitMs(tx.state)) applyWorkerEvent(tx, worker.id, { kind: 'host silent', untilMs })
  if (worker.phase === 'READY') applyWorkerEvent(tx, worker.id, { kind: 'take' })
}
