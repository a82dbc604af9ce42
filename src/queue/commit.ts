import { absorbOutage, earliest } from './deadlines.ts'
import { dispatch, type TakeReply } from './dispatch.ts'
import { excuseAfterLoad } from './loaded.ts'
import type { Tx } from './tx.ts'
import { notifySeekers } from './workers/preempt.ts'
import { planWorkers } from './workers/scale.ts'

/** Begin and end of every commit; operations run between them. */

/** Runs before the operations. `isFirst`: the queue has just been loaded from its rows. */
export function beginCommit(tx: Tx, isFirst: boolean): void {
  absorbOutage(tx)
  if (isFirst) excuseAfterLoad(tx)
}

/** Results of a commit, beside its effects. */
export interface CommitEnd {
  taken: TakeReply[]
  /**
   * Time of the next scaling decision if no event causes an earlier one. Undefined: this commit decided nothing, and the previous time
   * stays.
   */
  scaleAtMs: number | null | undefined
}

/**
 * Runs after the operations: dispatches jobs to open takes, then plans workers for the queue. `decide`: plan workers even when no operation
 * requested it.
 */
export function endCommit(tx: Tx, decide: boolean): CommitEnd {
  const taken = dispatch(tx)
  const scaleAtMs = decide || tx.effects.scale ? earliest([planWorkers(tx), notifySeekers(tx)]) : undefined
  return { taken, scaleAtMs }
}
