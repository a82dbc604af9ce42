import { findTrouble } from '../../../src/domain/job/explain.ts'
import type { QueueFacts } from '../../../src/domain/why/endpoint.ts'
import { countWorkers, isThrottled } from '../../../src/domain/worker/worker.ts'
import { occupiedWorkers } from '../../../src/queue/worker-rows.ts'
import type { EndpointCore } from '../core.ts'

/** What an endpoint's queue knows, for an explanation of it (WHY-10): rows in memory and one look at the workers. */
export async function readQueueFacts(core: EndpointCore): Promise<QueueFacts | null> {
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
    retryAtMs: retryAtMs(core),
  }
}

/** When a worker without a host looks for one again. */
export function retryAtMs({ state }: EndpointCore): number | null {
  const times = state.workers
    .all()
    .filter(isThrottled)
    .map(({ nextAttemptAtMs }) => nextAttemptAtMs)
  return times.length === 0 ? null : Math.min(...times)
}

/** The last decision is kept in memory, so an object that has just woken makes one first. */
export function decideNow(core: EndpointCore): Promise<void> {
  return core.transact(({ effects }) => {
    effects.scale = true
  })
}
