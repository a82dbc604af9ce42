import { type JobFilter, matchesFilter } from '../../../src/domain/job/job-filter.ts'
import { bulkStep } from '../../../src/queue/bulk.ts'
import type { Tx } from '../../../src/queue/tx.ts'
import type { Bulk, BulkScope } from '../store/jobs/bulk-store.ts'
import type { SqlState } from '../store/sql-state.ts'

/** Jobs per step: a commit of a few milliseconds, so that other calls run in between. */
export const STEP_JOBS = 200
/** Largest number of skipped jobs that are named. */
const NAMED_LEFT = 20

/** Runs one step of the oldest running bulk change. Called when the alarm fires. */
export function stepBulks(state: SqlState, tx: Tx): void {
  const [bulk] = state.bulks.running()
  if (!bulk) return
  const { want, action } = bulk
  const seqs = nextSeqs(state, bulk)
  const counts = bulkStep(tx, action, seqs, (job) => matchesFilter(job, filterOf(want)))
  const last = counts.looked === 0 ? undefined : seqs[counts.looked - 1]
  const isOver = seqs.length < STEP_JOBS && counts.looked === seqs.length
  state.bulks.save({
    ...bulk,
    looked: bulk.looked + counts.looked,
    changed: bulk.changed + counts.changed,
    skipped: bulk.skipped + counts.skipped,
    left: [...bulk.left, ...counts.left].slice(0, NAMED_LEFT),
    position: last ?? bulk.position,
    finishedAtMs: isOver ? tx.nowMs : null,
  })
}

function nextSeqs(state: SqlState, { want, position }: Bulk): number[] {
  if (want.seqs !== null) return want.seqs.filter((seq) => seq > position).slice(0, STEP_JOBS)
  return state.lists.seqsAfter(want.states, { fromSeq: Math.max(want.fromSeq, position + 1), beforeSeq: want.beforeSeq }, STEP_JOBS)
}

function filterOf({ states, fromMs, toMs }: BulkScope): JobFilter {
  return { states, fromMs, toMs, idPrefix: null }
}
