import { stepOverRest } from '../domain/clock/step.ts'
import { movedWorker } from '../domain/worker/moved.ts'
import { isExcused, type Worker } from '../domain/worker/worker.ts'
import { isOutage } from './deadlines.ts'
import type { Tx } from './tx.ts'
import { silenceLimitMs } from './worker-rows.ts'

/**
 * Steps of the wall clock (CLK-3, CLK-4). Deadlines of running jobs and workers are stored in wall clock time, so that they outlive the
 * object, and are moved with the clock. A ttl and a retention are dates that the client was given, and stay.
 */

/** Moves all leases, execution timeouts and worker deadlines by `byMs` after the clock was set, so that the time left stays the same. */
export function moveDeadlines(tx: Tx, byMs: number): void {
  if (byMs === 0) return
  const { jobs, workers, meta } = tx.state
  for (const job of jobs.running()) {
    jobs.save(job, { ...job, startedAtMs: job.startedAtMs + byMs, leaseUntilMs: job.leaseUntilMs + byMs })
  }
  for (const worker of workers.all()) workers.save(movedWorker(worker, byMs))
  for (const workerId of workers.withStops()) moveStops(tx, workerId, byMs)
  const { failures, notBeforeMs } = meta.launch()
  if (failures > 0) meta.setLaunch({ failures, notBeforeMs: notBeforeMs + byMs })
  tx.effects.scale = true
}

function moveStops({ state: { workers } }: Tx, workerId: string, byMs: number): void {
  for (const { jobId, killAtMs, delivered } of workers.stops(workerId)) {
    workers.deleteStop(workerId, jobId)
    workers.orderStop(workerId, jobId, killAtMs + byMs)
    if (delivered) workers.markDelivered(workerId)
  }
}

/**
 * Step of the clock while the object was not in memory, or the duration of an outage of the plane, milliseconds. Neither counts towards the
 * execution timeouts of running jobs (CLK-4). Apply it with `moveDeadlines` before `beginCommit`, which then restarts the leases (LSE-34).
 */
export function stepOverRestOf(tx: Tx): number {
  const { state, nowMs } = tx
  const seen = [...state.jobs.running().map((job) => job.startedAtMs), ...state.workers.all().map(lastSeenMs)].filter(
    (atMs) => atMs !== null,
  )
  if (seen.length === 0) return 0
  return stepOverRest(Math.max(...seen, armedAfterMs(tx) ?? 0), nowMs, isOutage(tx))
}

// Lower bound of the object's last activity, because rows lack the latest pings (LSE-24). While a worker may fall silent, no commit sets
// the alarm further ahead than the silence limit, unless it trusts an agent (CHN-30).
function armedAfterMs({ state }: Tx): number | null {
  const trust = state.meta.alarmTrust()
  if (trust) return trust.setAtMs
  const armed = state.meta.alarmAtMs()
  if (armed === null) return null
  const held = state.jobs.heldCounts()
  const isWatched = (worker: Worker) => worker.phase === 'READY' || (worker.phase === 'DRAINING' && held.has(worker.id))
  const pings = (worker: Worker) => isWatched(worker) && lastSeenMs(worker) !== null && !isExcused(worker, armed - 1)
  return state.workers.all().some(pings) ? armed - silenceLimitMs(state) : null
}

function lastSeenMs(worker: Worker): number | null {
  if (!('lastSeenAtMs' in worker) || worker.lastSeenAtMs === null) return null
  return Math.max(worker.lastSeenAtMs, worker.loadedAtMs ?? 0)
}
