import { type DrainingWorker, isThrottled, placementRetryMs, type Worker } from '../../domain/worker/worker.ts'
import type { QueueState } from '../state.ts'
import { drainWorker, recordWorkerGone } from '../transitions.ts'
import type { Tx } from '../tx.ts'
import { applyWorkerEvent, heldCounts } from '../worker-rows.ts'

/** Grace between the stop signal and the kill of a drained worker. */
export const DRAIN_GRACE_MS = 30_000

/** A call outside the queue that a worker needs. */
export type OutsideCall = { kind: 'place'; worker: Worker } | { kind: 'remove'; worker: Worker; graceMs: number }

/** Result of a search for a host. `abandon`: this worker must not be placed again, only removed. */
export type Placement =
  | { ok: true; hostId: string; gpuTypeId: string | null; dataCenterId: string }
  | { ok: false; reason: string; abandon?: boolean }

/** Placements and removals that are due, without workers that have a call in progress. */
export function dueCalls(state: QueueState, nowMs: number, inFlight: ReadonlySet<string>): OutsideCall[] {
  const held = heldCounts(state)
  return state.workers.all().flatMap((worker) => {
    const call = callOf(worker, nowMs, (one) => held.has(one.id) && nowMs < finishesByMs(state, one))
    return call && !inFlight.has(worker.id) ? [call] : []
  })
}

function callOf(worker: Worker, nowMs: number, isFinishing: (worker: DrainingWorker) => boolean): OutsideCall | null {
  switch (worker.phase) {
    case 'PLACING':
      return worker.nextAttemptAtMs > nowMs ? null : { kind: 'place', worker }
    case 'DRAINING':
      // WRK-29: the stop signal comes after the last job, not before.
      return worker.nextAttemptAtMs > nowMs || isFinishing(worker) ? null : { kind: 'remove', worker, graceMs: DRAIN_GRACE_MS }
    case 'FAILED':
      return worker.nextAttemptAtMs > nowMs || worker.released ? null : { kind: 'remove', worker, graceMs: 0 }
    case 'STARTING':
    case 'READY':
      return null
    default:
      return worker satisfies never
  }
}

/**
 * Instant until which a draining worker may finish its work. Jobs have deadlines of their own. Requests may stay open for days, so a
 * draining worker waits for them at most for the `timeout` of its endpoint, and not at all when the endpoint is deleted (LB-18).
 */
export function finishesByMs({ meta }: Pick<QueueState, 'meta'>, { attempts, nextAttemptAtMs }: DrainingWorker): number {
  const config = meta.config()
  if (config?.type !== 'LOAD_BALANCER') return Number.POSITIVE_INFINITY
  return attempts > 0 || meta.deleted() ? nextAttemptAtMs : nextAttemptAtMs + config.timeoutMs
}

/** Whether a job or request waits that no starting or free worker will take; only then may workers of others be preempted (PREEMPT-2). */
export function isJobWaiting(state: QueueState): boolean {
  const { jobs, workers, requests, meta } = state
  const held = heldCounts(state)
  const free = workers.all().filter((w) => w.phase === 'STARTING' || (w.phase === 'READY' && !held.has(w.id)))
  const scaling = meta.config()?.scaling
  const atOnce = scaling?.type === 'REQUEST_COUNT' ? scaling.requestCount : 1
  return jobs.queuedNormal > free.length || requests.waiting() > free.length * atOnce
}

/** Workers whose capacity will soon be free. */
export function leavingWorkers(state: QueueState): string[] {
  const held = heldCounts(state)
  return state.workers.all().flatMap(({ id, phase }) => (phase === 'DRAINING' && !held.has(id) ? [id] : []))
}

/** Applies the result of a search for a host. `hasNewCapacity`: new capacity was reported during the search, so the next one is at once. */
export function applyPlacement(tx: Tx, workerId: string, placed: Placement, hasNewCapacity: boolean): void {
  const { workers, meta } = tx.state
  const worker = workers.get(workerId)
  // The search has added the endpoint to the list of those that wait for capacity, even if the worker has changed meanwhile.
  if (!placed.ok && !placed.abandon) meta.setWaitsForCapacity(true)
  // The worker was drained or failed meanwhile: its row still requests the removal, which finds the placed workload.
  if (worker?.phase !== 'PLACING') return
  tx.effects.scale = true
  if (placed.ok) {
    const { hostId, gpuTypeId, dataCenterId } = placed
    applyWorkerEvent(tx, workerId, { kind: 'placed', hostId, gpuTypeId, dataCenterId })
    wakeNextThrottled(tx)
  } else if (placed.abandon) {
    drainWorker(tx, worker, placed.reason)
  } else {
    const retryAtMs = tx.nowMs + (hasNewCapacity ? 0 : placementRetryMs(worker.attempts + 1))
    applyWorkerEvent(tx, workerId, { kind: 'no capacity', reason: placed.reason, retryAtMs })
  }
}

// After one successful search there may be more capacity: the next worker searches at once, and so on until a search fails.
function wakeNextThrottled(tx: Tx): void {
  const next = tx.state.workers.all().find(isThrottled)
  if (next) applyWorkerEvent(tx, next.id, { kind: 'retry placement', atMs: tx.nowMs })
}

/**
 * A job has arrived in an empty queue, so workers of others can be preempted for it: the next search comes 5 s after the last one, or at
 * once if that is past.
 */
export function hurrySearch(tx: Tx): void {
  const worker = tx.state.workers.all().find(isThrottled)
  if (!worker) return
  const searchedAtMs = worker.nextAttemptAtMs - placementRetryMs(worker.attempts)
  const atMs = Math.max(tx.nowMs, searchedAtMs + placementRetryMs(1))
  if (atMs < worker.nextAttemptAtMs) applyWorkerEvent(tx, worker.id, { kind: 'retry placement', atMs })
}

/** Applies the result of a removal: `none` when no part of the worker is left anywhere. */
export function applyRemoval(tx: Tx, workerId: string, outcome: 'none' | 'requested'): void {
  const worker = tx.state.workers.get(workerId)
  if (worker?.phase !== 'DRAINING' && worker?.phase !== 'FAILED') return
  if (outcome === 'none') recordWorkerGone(tx, worker)
  else applyWorkerEvent(tx, workerId, { kind: 'removal requested' })
}
