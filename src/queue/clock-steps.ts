import { stepOverRest } from '../domain/clock/step.ts'
import { movedWorker } from '../domain/worker/moved.ts'
import { isExcused, type Worker } from '../domain/worker/worker.ts'
import { isOutage } from './deadlines.ts'
import { silenceLimitMs } from './transitions.ts'
import type { Tx } from './tx.ts'

/**
 * Steps of the wall clock (CLK-3, CLK-4): deadlines of what runs stand in rows by the wall clock, so that they outlive the object, and are
 * moved with it. A ttl and a retention are dates that the client was given, and stay.
 */

/** The clock was set by `byMs`: every lease, execution timeout and deadline of a worker is as far away as it was. */
export function moveDeadlines(tx: Tx, byMs: number): void {
  if (byMs === 0) return
  const { jobs, workers, meta } = tx.state
  for (const job of jobs.running()) {
    jobs.save(job, { ...job, startedAtMs: moved(job.startedAtMs, byMs), leaseUntilMs: moved(job.leaseUntilMs, byMs) })
  }
  for (const worker of workers.all()) workers.save(movedWorker(worker, byMs))
  for (const workerId of workers.withStops()) moveStops(tx, workerId, byMs)
  const { failures, notBeforeMs } = meta.launch()
  if (failures > 0) meta.setLaunch({ failures, notBeforeMs: notBeforeMs + byMs })
  tx.effects.scale = true
}

function moveStops({ state: { workers } }: Tx, workerId: string, byMs: number): void {
  for (const { jobId, killAtMs, told } of workers.stops(workerId)) {
    workers.forgetStop(workerId, jobId)
    workers.orderStop(workerId, jobId, killAtMs + byMs)
    if (told) workers.markTold(workerId)
  }
}

/**
 * By how much the clock was set while the object rested, or how long the plane was away: neither is the fault of what ran meanwhile, and its
 * execution timeout does not count it (CLK-4). To be moved before `beginCommit`, which then begins the leases anew (PP-13).
 */
export function stepOverRestOf(tx: Tx): number {
  const { state, nowMs } = tx
  const seen = [...state.jobs.running().map((job) => job.startedAtMs), ...state.workers.all().map(lastSeenMs)].filter(
    (atMs) => atMs !== null,
  )
  if (seen.length === 0) return 0
  return stepOverRest(Math.max(...seen, armedAfterMs(tx) ?? 0), nowMs, isOutage(tx))
}

// Rows do not have the latest pings (LSE-24). While the silence of a worker is waited for, no commit sets the alarm further ahead than that.
function armedAfterMs({ state }: Tx): number | null {
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

function moved(atMs: number | null, byMs: number): number | null {
  return atMs === null ? null : atMs + byMs
}
