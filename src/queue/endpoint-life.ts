import type { EndpointConfig } from '../domain/endpoint/record.ts'
import { cancelJob } from './jobs.ts'
import { applyJobDeadlines, drainWorker, takeBackWorker } from './transitions.ts'
import type { Tx } from './tx.ts'

/** Number of jobs that one commit of a purge reads. */
const PURGE_BATCH = 1_000

/** Stores a configuration, unless its revision is not newer than the stored one. */
export function takeConfig({ state, effects }: Tx, config: EndpointConfig): void {
  if (state.meta.deleted()) return
  const known = state.meta.config()
  if (known && known.revision >= config.revision) return
  state.meta.setConfig(config)
  // A new release starts without backoff: the cause of the failures may be fixed.
  if (known && known.version !== config.version) state.meta.setLaunch({ failures: 0, notBeforeMs: 0 })
  effects.scale = true
}

/** END-1: ends all workers and cancels all running jobs. The queued jobs may be many; `cancelBatch` cancels them. */
export function deleteEndpoint(tx: Tx): void {
  const { state } = tx
  for (const { seq } of state.jobs.running()) {
    applyJobDeadlines(tx, seq)
    const job = state.jobs.bySeq(seq)
    if (job) cancelJob(tx, job)
  }
  for (const worker of state.workers.all()) drainWorker(tx, worker, 'the endpoint was deleted')
  state.meta.setDeleted()
  state.keys.clear()
  tx.effects.scale = true
}

/** Reason for the end of workers and pods of a suspended account. */
export const SUSPENDED = 'the account is suspended by the operator'

/**
 * DER-40: a suspended account has no workers; their jobs return to the queue and lose no attempt. `isSuspended` false ends the suspension.
 * Idempotent.
 */
export function suspendEndpoint(tx: Tx, isSuspended: boolean): void {
  const { state, effects } = tx
  if (state.meta.deleted()) return
  state.meta.setSuspended(isSuspended)
  if (isSuspended) for (const worker of state.workers.all()) takeBackWorker(tx, worker, SUSPENDED)
  effects.scale = true
}

/** CTL-3: cancels some of the queued jobs; `more`: others may remain. */
export function cancelBatch(tx: Tx): { cancelled: number; more: boolean } {
  const isEnough = tx.state.outbox.meter()
  const jobs = tx.state.jobs.queued(PURGE_BATCH)
  let cancelled = 0
  let checked = 0
  for (const job of jobs) {
    if (isEnough()) break
    checked += 1
    // TMO-11: an expired job has ended by itself, even if no alarm has ended it yet.
    if (tx.nowMs >= job.ttlAtMs) applyJobDeadlines(tx, job.seq)
    else {
      cancelJob(tx, job)
      cancelled += 1
    }
  }
  return { cancelled, more: checked < jobs.length || jobs.length === PURGE_BATCH }
}
