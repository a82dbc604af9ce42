import { doubtTake, type Holder, showIdle } from '../domain/job/job.ts'
import type { Tx } from './tx.ts'
import { forgetOvercomeFailures, tellWorker, workerOf } from './worker-rows.ts'

/** What a request for work comes to: it waits for a job, ends soon because its worker does, or is turned away. */
export type TakeVerdict = 'waits' | 'draining' | 'refused'

/** A request for work. */
export interface Ask {
  /** The worker says that it holds no job (LSE-3). */
  idle: boolean
  /** Its host says that it sends the request again, because no answer came (PP-175). */
  again: boolean
}

/** A worker asks for work (WRK-7, WRK-29). */
export function askForWork(tx: Tx, from: Holder, { idle, again }: Ask): TakeVerdict {
  const worker = workerOf(tx.state, from)
  if (!worker || worker.phase === 'FAILED' || worker.phase === 'PLACING') return 'refused'
  if (idle) showIdleLeases(tx, from, again)
  else if (again) doubtLeases(tx, from)
  if (worker.phase === 'DRAINING') return 'draining'
  tellWorker(tx, worker.id, { kind: 'take' })
  if (worker.phase === 'STARTING') forgetOvercomeFailures(tx)
  tx.effects.scale = true
  return 'waits'
}

function showIdleLeases({ state, nowMs }: Tx, from: Holder, again: boolean): void {
  for (const job of state.jobs.heldBy(from.workerId)) state.jobs.save(job, showIdle(job, nowMs, again))
}

// It runs other jobs meanwhile, and which of those in doubt it has is known when it pings.
function doubtLeases({ state }: Tx, from: Holder): void {
  for (const job of state.jobs.heldBy(from.workerId)) state.jobs.save(job, doubtTake(job))
}

/** What a worker has to stop (WRK-25), handed out once; `active`: it may get such an order later. */
export function collectStops({ state }: Tx, from: Holder): { jobIds: string[]; active: boolean } {
  const worker = workerOf(state, from)
  const orders = state.workers.stops(from.workerId).filter((order) => !order.told)
  if (orders.length > 0) state.workers.markTold(from.workerId)
  const active = worker !== null && (worker.phase !== 'DRAINING' || state.jobs.heldBy(worker.id).length > 0)
  return { jobIds: orders.map((order) => order.jobId), active }
}
