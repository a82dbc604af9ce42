import type { Holder } from '../domain/job/job.ts'
import { missPing, renewLease } from '../domain/job/lease.ts'
import type { Worker } from '../domain/worker/worker.ts'
import { endStanding, watch } from './standing.ts'
import type { Ping } from './state.ts'
import { applyJobDeadlines, currentJob, failWorker, killWorker } from './transitions.ts'
import type { Tx } from './tx.ts'
import { applyWorkerEvent, workerOf } from './worker-rows.ts'

/** Applies a ping: a sign of life of the worker and of each job that it lists (LSE-4, LSE-5, WRK-20). It ends a standing one (CHN-30). */
export function takePing(tx: Tx, from: Holder, ping: Ping): void {
  const worker = workerOf(tx.state, from)
  if (worker) endStanding(tx, worker, tx.nowMs)
  applyPing(tx, from, ping)
}

function applyPing(tx: Tx, from: Holder, { listed, sdkVersion, unhealthy }: Ping): void {
  const worker = workerOf(tx.state, from)
  if (!worker) return
  if (unhealthy !== null) {
    if (worker.phase !== 'FAILED') failWorker(tx, worker, unhealthy)
    return
  }
  applyWorkerEvent(tx, worker.id, { kind: 'ping' })
  renewLeases(tx, from, listed, confusesWorkers(sdkVersion))
  enforceStops(tx, worker, listed)
}

/**
 * Applies a ping for which the agent of the worker's host answers from now on (CHN-30). A worker with stop orders has to send each ping,
 * because they repeat the orders and end the worker in time (WRK-26).
 */
export function takeStandingPing(tx: Tx, from: Holder, ping: Ping): void {
  applyPing(tx, from, ping)
  if (maySettle(tx, from)) watch(tx, from.workerId, ping.listed)
  else tx.effects.recalls.add(from.workerId)
}

// Pings apply the deadline of a job that its worker has not confirmed (LSE-2), and a worker that starts is not watched yet.
function maySettle({ state }: Tx, from: Holder): boolean {
  const phase = workerOf(state, from)?.phase
  if (phase !== 'READY' && phase !== 'DRAINING') return false
  return state.workers.stops(from.workerId).length === 0 && state.jobs.heldBy(from.workerId).every(({ acked }) => acked)
}

/** WRK-21: these SDK versions could report another worker's jobs, so a missing id proves nothing. */
function confusesWorkers(version: string | null): boolean {
  const [major, minor, patch] = (version ?? '').split('.').map(Number)
  if (major !== 1 || minor === undefined || patch === undefined) return false
  return (minor === 7 && patch >= 11) || minor === 8 || minor === 9 || (minor === 10 && patch === 0)
}

function renewLeases(tx: Tx, from: Holder, listed: ReadonlySet<string>, ignoreMissing: boolean): void {
  const { jobs, pingIntervalMs } = tx.state
  for (const held of jobs.heldBy(from.workerId)) {
    const job = currentJob(tx, held.id)
    if (job?.state !== 'IN_PROGRESS') continue
    if (listed.has(job.id)) jobs.save(job, renewLease(job, tx.nowMs, { pingIntervalMs }))
    else if (!ignoreMissing) {
      jobs.save(job, missPing(job, tx.nowMs))
      applyJobDeadlines(tx, job.seq)
    }
  }
}

/**
 * Compares stop orders with the jobs that the worker still pings (WRK-26, LSE-12). An order lasts until its kill time. A worker that had
 * not begun the job drops the first order, so the order is repeated while the job is pinged; after the grace (TMO-7) the worker is killed.
 */
function enforceStops(tx: Tx, worker: Worker, listed: ReadonlySet<string>): void {
  const { workers } = tx.state
  for (const order of workers.stops(worker.id)) {
    const overdue = tx.nowMs >= order.killAtMs
    if (overdue) workers.deleteStop(worker.id, order.jobId)
    if (!listed.has(order.jobId)) continue
    if (overdue) {
      killWorker(tx, worker, order.jobId)
      return
    }
    if (!order.delivered) continue
    workers.markUndelivered(worker.id, order.jobId)
    tx.effects.stopPolls.add(worker.id)
  }
}
