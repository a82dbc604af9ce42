import { restartLease } from '../domain/job/lease.ts'
import { loadLease } from '../domain/job/lease-memory.ts'
import { SILENCE_MIN_MS } from '../host-protocol/silence.ts'
import { isUnheard, trustUnheard } from './standing.ts'
import type { Tx } from './tx.ts'
import { applyWorkerEvent, silenceLimitMs } from './worker-rows.ts'

/**
 * LSE-24: first commit of a queue that was loaded from its rows, which lack the latest pings of its workers. Each worker gets the time of
 * one more lease to ping; a worker that is gone is detected that much later. A worker whose channel is still open has not been away, and
 * one whose channel ended meanwhile lost it with the plane or its host (CHN-30).
 */
export function excuseAfterLoad(tx: Tx): void {
  const { jobs, workers, meta } = tx.state
  const untilMs = tx.nowMs + silenceLimitMs(tx.state)
  trustUnheard(tx)
  const trusted = new Set(workers.all().flatMap((worker) => (isUnheard(tx.state, worker) ? worker.id : [])))
  for (const job of jobs.running()) {
    if (trusted.has(job.holder.workerId)) continue
    const loaded = meta.alarmTrusts()
      ? restartLease(job, tx.nowMs + Math.max(silenceLimitMs(tx.state), SILENCE_MIN_MS))
      : loadLease(job, untilMs)
    if (loaded !== job) jobs.save(job, loaded)
  }
  const held = jobs.heldCounts()
  for (const { id } of workers.all()) applyWorkerEvent(tx, id, { kind: 'loaded', holdsJobs: held.has(id), isTrusted: trusted.has(id) })
}
