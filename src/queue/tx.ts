import type { EndpointConfig } from '../domain/endpoint/record.ts'
import type { Job } from '../domain/job/job.ts'
import type { QueueState } from './state.ts'

/**
 * Context of an operation: the rows, one instant, and the effects to perform once the commit is durable. Code that has a `Tx` runs inside a
 * transaction.
 */
export interface Tx {
  readonly state: QueueState
  readonly nowMs: number
  readonly effects: Effects
}

/** Effects of a transition, collected during the transaction and performed once it is durable. */
export class Effects {
  /** Jobs whose waiting clients are notified. */
  readonly changedJobs = new Set<number>()
  /** Jobs among them that their ttl has deleted, in the state that their clients receive (JOB-9). */
  readonly expiredJobs = new Map<number, Job>()
  /** Workers whose stop poll is answered. */
  readonly stopPolls = new Set<string>()
  /** Workers whose agents are asked to send each ping again (CHN-30). */
  readonly recalls = new Set<string>()
  /** Workers that get no more work: their open take ends without a job. */
  readonly releasedTakes = new Set<string>()
  /** Endpoints that search for capacity, to be notified that some may be available here. */
  readonly capacitySeekers = new Set<string>()
  /** Workers may have to be started, placed or removed. */
  scale = false

  merge(other: Effects): void {
    for (const seq of other.changedJobs) this.changedJobs.add(seq)
    for (const [seq, job] of other.expiredJobs) this.expiredJobs.set(seq, job)
    for (const id of other.stopPolls) this.stopPolls.add(id)
    for (const id of other.recalls) this.recalls.add(id)
    for (const id of other.releasedTakes) this.releasedTakes.add(id)
    for (const id of other.capacitySeekers) this.capacitySeekers.add(id)
    this.scale ||= other.scale
  }
}

/** Configuration of an endpoint; null when it is deleted. */
export function liveConfig(state: QueueState): EndpointConfig | null {
  return state.meta.deleted() ? null : state.meta.config()
}
