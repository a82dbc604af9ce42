import type { EndpointStake } from '../domain/endpoint/stake.ts'
import { activeWorkers, knownIdleSinceMs } from '../domain/worker/worker.ts'
import type { QueueState } from './state.ts'
import { occupiedWorkers } from './worker-rows.ts'

/** What hangs on an endpoint at this moment, read from what `/health` counts. */
export function stakeOf(state: QueueState, nowMs: number): EndpointStake {
  const held = occupiedWorkers(state)
  const requests = [...state.requests.held().values()].reduce((sum, count) => sum + count, 0)
  return {
    queued: state.jobs.queuedNormal + state.jobs.queuedLow,
    running: state.jobs.running().length + requests,
    workers: activeWorkers(state.workers.all(), held).map(({ worker }) => ({
      id: worker.id,
      held: held.get(worker.id) ?? 0,
      idleSinceMs: knownIdleSinceMs(worker, nowMs),
    })),
  }
}
