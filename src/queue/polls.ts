import type { Holder } from '../domain/job/job.ts'
import { doubtTake, showIdle } from '../domain/job/lease.ts'
import type { Tx } from './tx.ts'
import { applyWorkerEvent, removeOvercomeFailures, workerOf } from './worker-rows.ts'

/** Outcome of a request for work: it waits for a job, it ends soon because its worker is draining, or it is refused. */
export type TakeVerdict = 'waits' | 'draining' | 'refused'

/** Parameters of a request for work. */
export interface Ask {
  /** The worker reports that it holds no job (LSE-3). */
  idle: boolean
  /** The host reports a repeated request, because the first one was not answered (LSE-30). */
  again: boolean
}

/** Applies a worker's request for work (WRK-7, WRK-29). */
export function askForWork(tx: Tx, from: Holder, { idle, again }: Ask): TakeVerdict {
  const worker = workerOf(tx.state, from)
  if (!worker || worker.phase === 'FAILED' || worker.phase === 'PLACING') return 'refused'
  if (idle) showIdleLeases(tx, from, again)
  else if (again) doubtLeases(tx, from)
  if (worker.phase === 'DRAINING') return 'draining'
  applyWorkerEvent(tx, worker.id, { kind: 'take' })
  if (worker.phase === 'STARTING') removeOvercomeFailures(tx)
  tx.effects.scale = true
  return 'waits'
}

function showIdleLeases({ state, nowMs }: Tx, from: Holder, again: boolean): void {
  for (const job of state.jobs.heldBy(from.workerId)) state.jobs.save(job, showIdle(job, nowMs, again))
}

// The worker runs other jobs meanwhile; its next ping shows which of the jobs in doubt it has.
function doubtLeases({ state }: Tx, from: Holder): void {
  for (const job of state.jobs.heldBy(from.workerId)) state.jobs.save(job, doubtTake(job))
}

/** Stop orders for a worker (WRK-25), each returned once; `active`: later orders are possible. */
export function collectStops({ state }: Tx, from: Holder): { jobIds: string[]; active: boolean } {
  const worker = workerOf(state, from)
  const orders = state.workers.stops(from.workerId).filter((order) => !order.delivered)
  if (orders.length > 0) state.workers.markDelivered(from.workerId)
  const active = worker !== null && (worker.phase !== 'DRAINING' || state.jobs.heldBy(worker.id).length > 0)
  return { jobIds: orders.map((order) => order.jobId), active }
}
