import type { Job } from '../../../src/domain/job/job.ts'
import { auditRow, type Change } from '../../../src/effects/audit.ts'
import type { BulkAction } from '../../../src/queue/bulk.ts'
import type { Tx } from '../../../src/queue/tx.ts'
import type { Cause } from '../../../src/rpc/cause.ts'
import type { Outboxes, Outside, Rows } from '../parts.ts'
import type { Bulk } from '../store/jobs/bulk-store.ts'

/** Adds an audit row for a change, in its transaction (AUD-1). */
export function note(core: Outboxes & Outside & Rows, tx: Tx, cause: Cause, change: Change): void {
  const config = core.config()
  if (config) core.audit.add(auditRow(core.env, tx.nowMs, cause, config.teamId, change))
}

/** Audit row of a cancelled job; `state` is the one before. */
export function cancelled(jobId: string, state: Job['state']): Change {
  return { action: 'jobs.cancel', resourceKind: 'job', resourceId: jobId, before: { status: state }, after: { status: 'CANCELLED' } }
}

/** JOB-44: one audit row for all jobs of a bulk change. */
export function bulkStarted(action: BulkAction, { id, matched, byStatus }: Pick<Bulk, 'id' | 'matched' | 'byStatus'>): Change {
  return { action: `jobs.bulk-${action}`, resourceKind: 'job-bulk', resourceId: id, before: byStatus, after: { jobs: matched } }
}

/** One audit row for all jobs of a purge, with their number. */
export function purgedQueue(endpointId: string, queued: number): Change {
  return { action: 'queues.purge', resourceKind: 'queue', resourceId: endpointId, before: { queued }, after: { queued: 0 } }
}
