import type { EndpointImpact } from '../domain/endpoint/impact.ts'
import { activeWorkers, knownIdleSinceMs } from '../domain/worker/worker.ts'
import type { QueueState } from './state.ts'
import { occupiedWorkers } from './worker-rows.ts'

/** Present jobs and workers of an endpoint, from the same sources as `/health`. */
export function impactOf(state: QueueState, nowMs: number): EndpointImpact {
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
