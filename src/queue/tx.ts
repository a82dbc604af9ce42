import type { EndpointConfig } from '../domain/endpoint/record.ts'
import type { Job } from '../domain/job/job.ts'
import type { QueueState } from './state.ts'

/**
 * What an operation works with: the rows, one instant, and a list of what is to be done once all of it is durable. Whoever has a `Tx` is
 * inside a transaction.
 */
export interface Tx {
  readonly state: QueueState
  readonly nowMs: number
  readonly effects: Effects
}

/** What a transition wants done once it is durable. Collected during the transaction, performed after it. */
export class Effects {
  /** Jobs whose waiting clients look again. */
  readonly changedJobs = new Set<number>()
  /** Those of them that their ttl has deleted, as their clients are to hear of them (JOB-9). */
  readonly expiredJobs = new Map<number, Job>()
  /** Workers whose stop poll has something to say. */
  readonly stopPolls = new Set<string>()
  /** Workers that get no more work: their open take ends with "nothing". */
  readonly releasedTakes = new Set<string>()
  /** Endpoints that look for room, to be told that there may be some here. */
  readonly roomSeekers = new Set<string>()
  /** Workers may have to be started, placed or removed. */
  scale = false

  merge(other: Effects): void {
    for (const seq of other.changedJobs) this.changedJobs.add(seq)
    for (const [seq, job] of other.expiredJobs) this.expiredJobs.set(seq, job)
    for (const id of other.stopPolls) this.stopPolls.add(id)
    for (const id of other.releasedTakes) this.releasedTakes.add(id)
    for (const id of other.roomSeekers) this.roomSeekers.add(id)
    this.scale ||= other.scale
  }
}

/** The configuration of an endpoint that is not deleted. */
export function liveConfig(state: QueueState): EndpointConfig | null {
  return state.meta.deleted() ? null : state.meta.config()
}
