import type { Holder, QueuedJob } from './job.ts'
import { mayHold } from './lease.ts'

/** A worker with an open take. */
export interface Taker extends Holder {
  /** Jobs that it has leased already. */
  held: number
  /** Upper bound of jobs that it takes with this poll (WRK-11). */
  capacity: number
  parkedAtMs: number
}

/** A job for the worker with this index among the takers. */
export interface Assignment {
  takerIndex: number
  job: QueuedJob
}

/**
 * Assigns queued jobs, in order, to open takes: the fewest leased jobs first, then the longest wait (WRK-12). A job is never assigned to a
 * taker that held it before (LSE-9); it waits for another while later jobs go on.
 */
export function assignJobs(queued: readonly QueuedJob[], takers: readonly Taker[]): Assignment[] {
  const given = takers.map(() => 0)
  const assignments: Assignment[] = []
  for (const job of queued) {
    const best = pickTaker(job, takers, given)
    if (best === -1) continue
    given[best] = (given[best] ?? 0) + 1
    assignments.push({ takerIndex: best, job })
  }
  return assignments
}

function pickTaker(job: QueuedJob, takers: readonly Taker[], given: readonly number[]): number {
  let best = -1
  let bestHeld = 0
  for (const [index, taker] of takers.entries()) {
    const gave = given[index] ?? 0
    if (gave >= taker.capacity || !mayHold(job, taker)) continue
    const held = taker.held + gave
    const current = takers[best]
    if (!current || held < bestHeld || (held === bestHeld && taker.parkedAtMs < current.parkedAtMs)) {
      best = index
      bestHeld = held
    }
  }
  return best
}
