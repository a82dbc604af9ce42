import { loadLease } from '../domain/job/lease-memory.ts'
import { silenceLimitMs } from './transitions.ts'
import type { Tx } from './tx.ts'
import { applyWorkerEvent } from './worker-rows.ts'

/**
 * LSE-24: first commit of a queue that was loaded from its rows, which lack the latest pings of its workers. Each worker gets the time of
 * one more lease to ping; a worker that is gone is detected that much later.
 */
export function excuseAfterLoad(tx: Tx): void {
  const { jobs, workers } = tx.state
  const untilMs = tx.nowMs + silenceLimitMs(tx.state)
  for (const job of jobs.running()) {
    const loaded = loadLease(job, untilMs)
    if (loaded !== job) jobs.save(job, loaded)
  }
  const held = jobs.heldCounts()
  for (const { id } of workers.all()) applyWorkerEvent(tx, id, { kind: 'loaded', holdsJobs: held.has(id) })
}
