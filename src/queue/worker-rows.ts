import type { Holder } from '../domain/job/job.ts'
import { LEASE_INTERVALS } from '../domain/job/lease.ts'
import type { Worker } from '../domain/worker/worker.ts'
import type { QueueState } from './state.ts'
import type { Tx } from './tx.ts'
import { nextWorker, type WorkerEvent } from './worker-life.ts'

/** Applies an event to a worker and writes the result. Returns the worker after the event; null when it does not exist or was removed. */
export function applyWorkerEvent({ state, nowMs }: Tx, workerId: string, event: WorkerEvent): Worker | null {
  const worker = state.workers.get(workerId)
  if (!worker) return null
  const next = nextWorker(worker, event, nowMs)
  if (next === null) state.workers.remove(workerId)
  else if (next !== worker) state.workers.save(next)
  return next
}

/** Removes failed workers that are gone from their hosts once another worker is ready: the earlier failures would only mislead. */
export function removeOvercomeFailures({ state }: Tx): void {
  for (const other of state.workers.all()) {
    if (other.phase === 'FAILED' && other.released) state.workers.remove(other.id)
  }
}

/** Work of each worker: number of leases, or of requests of a load-balancing endpoint. */
export function heldCounts({ jobs, requests }: Pick<QueueState, 'jobs' | 'requests'>): ReadonlyMap<string, number> {
  const open = requests.held()
  return open.size > 0 ? open : jobs.heldCounts()
}

/** Worker row of this boot, or null. A worker starts once, so all its leases belong to this boot. */
export function workerOf(state: QueueState, from: Holder): Worker | null {
  const worker = state.workers.get(from.workerId)
  return worker?.boot === from.boot ? worker : null
}

/** LSE-7: duration of silence after which a worker counts as lost, milliseconds. */
export function silenceLimitMs({ pingIntervalMs }: Pick<QueueState, 'pingIntervalMs'>): number {
  return LEASE_INTERVALS * pingIntervalMs
}

/**
 * Number of jobs that occupy each worker: its leases, or 1 for a stopped job that it has not released. A worker with an open take has
 * released every stopped job, even if an order still exists (WRK-45).
 */
export function occupiedWorkers(state: QueueState): Map<string, number> {
  const { workers, takes } = state
  const counts = new Map(heldCounts(state))
  const stopped = workers.withStops()
  if (stopped.length === 0) return counts
  for (const id of stopped) if (!counts.has(id) && !takes.isPolling(id)) counts.set(id, 1)
  return counts
}
