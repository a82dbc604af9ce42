import { restartLease } from '../domain/job/lease.ts'
import { loadLease } from '../domain/job/lease-memory.ts'
import { SILENCE_MIN_MS } from '../host-protocol/silence.ts'
import { excuseWorker } from './deadlines.ts'
import { isTrusted, trustUnheard } from './standing.ts'
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
  const returnMs = tx.nowMs + Math.max(silenceLimitMs(tx.state), SILENCE_MIN_MS)
  trustUnheard(tx)
  const isOwn = (worker: { hostId: string | null }, hosts: readonly string[]) => worker.hostId !== null && hosts.includes(worker.hostId)
  const all = workers.all()
  const trusted = new Set(all.flatMap((worker) => (isTrusted(tx.state, worker, tx.nowMs) ? worker.id : [])))
  const lostHosts = meta.alarmTrust()?.hosts ?? []
  const cut = new Set(
    all.flatMap((worker) => (isOwn(worker, lostHosts) && !tx.state.unheardHosts().has(worker.hostId ?? '') ? worker.id : [])),
  )
  for (const job of jobs.running()) {
    const { workerId } = job.holder
    if (trusted.has(workerId)) continue
    const loaded = cut.has(workerId) ? restartLease(job, returnMs) : loadLease(job, untilMs)
    if (loaded !== job) jobs.save(job, loaded)
  }
  const held = jobs.heldCounts()
  const lastEndMs = meta.lastEndMs()
  for (const worker of all) {
    const { id } = worker
    applyWorkerEvent(tx, id, { kind: 'loaded', holdsJobs: held.has(id), isTrusted: trusted.has(id), lastEndMs })
    if (cut.has(id)) excuseWorker(tx, worker, returnMs)
  }
}
