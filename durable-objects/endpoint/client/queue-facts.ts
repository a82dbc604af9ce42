import type { QueueFacts } from '../../../src/domain/explain/endpoint.ts'
import { findTrouble } from '../../../src/domain/job/explain.ts'
import { countWorkers, isThrottled } from '../../../src/domain/worker/worker.ts'
import type { QueueState } from '../../../src/queue/state.ts'
import { occupiedWorkers } from '../../../src/queue/worker-rows.ts'
import type { Commits, Rows } from '../parts.ts'

/** State of an endpoint's queue for its explanation (WHY-10), from rows in memory and one pass over the workers. */
export async function readQueueFacts(core: Commits & Rows): Promise<QueueFacts | null> {
  if (!core.isStored) return null
  if (!core.state.decisions.last()) await decideNow(core)
  const { workers, jobs, requests, decisions } = core.state
  const all = workers.all()
  const waiting = requests.waiting()
  return {
    counts: countWorkers(all, occupiedWorkers(core.state)),
    queued: { normal: jobs.queuedNormal + waiting, low: jobs.queuedLow },
    trouble: findTrouble(all),
    decision: decisions.last() ?? null,
    retryAtMs: retryAtMs(core.state),
  }
}

/** When the next placement attempt of a worker without a host is due; null when no worker waits for one. */
export function retryAtMs(state: Pick<QueueState, 'workers'>): number | null {
  const times = state.workers
    .all()
    .filter(isThrottled)
    .map(({ nextAttemptAtMs }) => nextAttemptAtMs)
  return times.length === 0 ? null : Math.min(...times)
}

/** Makes a scaling decision. The last one is only in memory, so an object that has just started must decide first. */
export function decideNow(core: Commits): Promise<void> {
  return core.transact(({ effects }) => {
    effects.scale = true
  })
}
