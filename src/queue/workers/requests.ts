import { liveConfig, type Tx } from '../tx.ts'
import { applyWorkerEvent } from '../worker-rows.ts'
import { hurrySearch } from './outside-calls.ts'

/** Effects of requests of a load-balancing endpoint on its workers. The requests themselves are not stored in rows. */

/** A request waits for a worker, so more workers may be needed. */
export function waitingRequest(tx: Tx): void {
  if (tx.state.requests.waiting() === 1) hurrySearch(tx)
  tx.effects.scale = true
}

/** An idle worker has got a request. */
export function startedRequest(tx: Tx, workerId: string): void {
  const { meta } = tx.state
  // LSE-31: a start that took work is no failed start.
  if (meta.launch().failures > 0) meta.setLaunch({ failures: 0, notBeforeMs: 0 })
  applyWorkerEvent(tx, workerId, { kind: 'busy' })
  tx.effects.scale = true
}

/** A worker's last request is over since `endedAtMs`. */
export function workerIdle(tx: Tx, workerId: string, endedAtMs: number): void {
  applyWorkerEvent({ ...tx, nowMs: endedAtMs }, workerId, { kind: 'idle', polls: false })
  tx.effects.scale = true
}

/**
 * A restarted object does not know which requests are in progress. Workers that were busy stay so for `leaseMs`, within which the carriers
 * of requests must report them, and count as idle from then on otherwise.
 */
export function doubtRequests(tx: Tx, leaseMs: number): void {
  if (liveConfig(tx.state)?.type !== 'LOAD_BALANCER') return
  const laterMs = tx.nowMs + leaseMs
  for (const worker of tx.state.workers.all()) {
    if (worker.phase === 'READY' && worker.idleSinceMs === null && !tx.state.requests.held().has(worker.id))
      workerIdle(tx, worker.id, laterMs)
  }
}
