import { liveConfig, type Tx } from '../tx.ts'
import { tellWorker } from '../worker-rows.ts'
import { hurrySearch } from './outside-calls.ts'

/** What requests of a load-balancing endpoint do to its workers. The requests themselves are no rows. */

/** A request waits for a worker: more may be wanted. */
export function waitingRequest(tx: Tx): void {
  if (tx.state.requests.waiting() === 1) hurrySearch(tx)
  tx.effects.scale = true
}

/** A worker without a request has one. */
export function startedRequest(tx: Tx, workerId: string): void {
  const { meta } = tx.state
  // PP-176: a start that took work is no failed one.
  if (meta.launch().failures > 0) meta.setLaunch({ failures: 0, notBeforeMs: 0 })
  tellWorker(tx, workerId, { kind: 'busy' })
  tx.effects.scale = true
}

/** A worker's last request is over. */
export function workerIdle(tx: Tx, workerId: string): void {
  tellWorker(tx, workerId, { kind: 'idle' })
  tx.effects.scale = true
}

/**
 * An object that starts anew does not know which requests are under way: workers that had some keep them until whoever carries them must have
 * said so, and are idle from then on if nobody has.
 */
export function doubtRequests(tx: Tx, leaseMs: number): void {
  if (liveConfig(tx.state)?.type !== 'LOAD_BALANCER') return
  const later = { ...tx, nowMs: tx.nowMs + leaseMs }
  for (const worker of tx.state.workers.all()) {
    if (worker.phase === 'READY' && worker.idleSinceMs === null && !tx.state.requests.held().has(worker.id)) workerIdle(later, worker.id)
  }
}
