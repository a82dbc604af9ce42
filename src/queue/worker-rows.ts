import type { Holder } from '../domain/job/job.ts'
import type { Worker } from '../domain/worker/worker.ts'
import type { QueueState } from './state.ts'
import type { Tx } from './tx.ts'
import { nextWorker, type WorkerEvent } from './worker-life.ts'

/** Writes what an event makes of a worker. Returns the worker as it is now; null when there is none, or none any more. */
export function tellWorker({ state, nowMs }: Tx, workerId: string, event: WorkerEvent): Worker | null {
  const worker = state.workers.get(workerId)
  if (!worker) return null
  const next = nextWorker(worker, event, nowMs)
  if (next === null) state.workers.remove(workerId)
  else if (next !== worker) state.workers.save(next)
  return next
}

/** A worker that is ready has overcome earlier failures; what is left of them would only mislead. */
export function forgetOvercomeFailures({ state }: Tx): void {
  for (const other of state.workers.all()) {
    if (other.phase === 'FAILED' && other.released) state.workers.remove(other.id)
  }
}

/** What each worker holds: leases of jobs, or requests of a load-balancing endpoint. */
export function heldCounts({ jobs, requests }: Pick<QueueState, 'jobs' | 'requests'>): ReadonlyMap<string, number> {
  const open = requests.held()
  return open.size > 0 ? open : jobs.heldCounts()
}

/** The worker row of this boot, if it is one that may still work. A worker starts once, so what it holds is this boot's. */
export function workerOf(state: QueueState, from: Holder): Worker | null {
  const worker = state.workers.get(from.workerId)
  return worker?.boot === from.boot ? worker : null
}

/**
 * Jobs that occupy each worker: its leases, or the stopped job that it has not let go of yet. A worker with an open take is free of any
 * stopped job, whatever the orders say (PP-29).
 */
export function occupiedWorkers(state: QueueState): Map<string, number> {
  const { workers, takes } = state
  const counts = new Map(heldCounts(state))
  const stopped = workers.withStops()
  if (stopped.length === 0) return counts
  const polling = new Set(takes.open().map((take) => take.workerId))
  for (const id of stopped) if (!counts.has(id) && !polling.has(id)) counts.set(id, 1)
  return counts
}
