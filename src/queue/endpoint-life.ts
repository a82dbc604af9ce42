import type { EndpointConfig } from '../domain/endpoint/record.ts'
import { cancelJob } from './jobs.ts'
import { drainWorker, settleJob, takeBackWorker } from './transitions.ts'
import type { Tx } from './tx.ts'

/** Jobs that one commit of a purge looks at. */
const PURGE_BATCH = 1_000

/** Takes over a configuration; an older revision than the known one changes nothing. */
export function takeConfig({ state, effects }: Tx, config: EndpointConfig): void {
  if (state.meta.deleted()) return
  const known = state.meta.config()
  if (known && known.revision >= config.revision) return
  state.meta.setConfig(config)
  // A new release deserves a fresh try: what failed may be what was changed.
  if (known && known.version !== config.version) state.meta.setLaunch({ failures: 0, notBeforeMs: 0 })
  effects.scale = true
}

/** END-1: ends all workers and cancels all running jobs. Queued ones are many: `cancelBatch` ends them. */
export function deleteEndpoint(tx: Tx): void {
  const { state } = tx
  for (const { seq } of state.jobs.running()) {
    settleJob(tx, seq)
    const job = state.jobs.bySeq(seq)
    if (job) cancelJob(tx, job)
  }
  for (const worker of state.workers.all()) drainWorker(tx, worker, 'the endpoint was deleted')
  state.meta.setDeleted()
  state.keys.clear()
  tx.effects.scale = true
}

/** What workers and pods of a suspended account say of their end. */
export const SUSPENDED = 'the account is suspended by the operator'

/**
 * PP-214: a suspended account has no workers; what they held waits with the queued jobs, and has lost nothing. Ends it with false. Repeating it
 * changes nothing.
 */
export function suspendEndpoint(tx: Tx, isSuspended: boolean): void {
  const { state, effects } = tx
  if (state.meta.deleted()) return
  state.meta.setSuspended(isSuspended)
  if (isSuspended) for (const worker of state.workers.all()) takeBackWorker(tx, worker, SUSPENDED)
  effects.scale = true
}

/** CTL-3: cancels some of the queued jobs; `more`: there are others. */
export function cancelBatch(tx: Tx): { cancelled: number; more: boolean } {
  const isEnough = tx.state.outbox.meter()
  const jobs = tx.state.jobs.queued(PURGE_BATCH)
  let cancelled = 0
  let looked = 0
  for (const job of jobs) {
    if (isEnough()) break
    looked += 1
    // PP-18: one whose time is over has ended by itself, whether or not an alarm has looked.
    if (tx.nowMs >= job.ttlAtMs) settleJob(tx, job.seq)
    else {
      cancelJob(tx, job)
      cancelled += 1
    }
  }
  return { cancelled, more: looked < jobs.length || jobs.length === PURGE_BATCH }
}
