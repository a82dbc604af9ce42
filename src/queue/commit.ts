import { absorbOutage, earliest } from './deadlines.ts'
import { dispatch, type TakeReply } from './dispatch.ts'
import { excuseAfterLoad } from './loaded.ts'
import type { Tx } from './tx.ts'
import { tellRoomSeekers } from './workers/give-way.ts'
import { planWorkers } from './workers/scale.ts'

/** The frame of every commit. Operations come between its two ends. */

/** Before the operations. `isFirst`: the queue has just been loaded from its rows. */
export function beginCommit(tx: Tx, isFirst: boolean): void {
  absorbOutage(tx)
  if (isFirst) excuseAfterLoad(tx)
}

/** What the operations of a commit lead to, beside their effects. */
export interface CommitEnd {
  taken: TakeReply[]
  /** When to decide about workers again although nothing happens. Undefined: nothing was decided, the last word stands. */
  scaleAtMs: number | null | undefined
}

/** After the operations: work for those who ask, then workers for the work. `decide`: also when no operation asked for it. */
export function endCommit(tx: Tx, decide: boolean): CommitEnd {
  const taken = dispatch(tx)
  const scaleAtMs = decide || tx.effects.scale ? earliest([planWorkers(tx), tellRoomSeekers(tx)]) : undefined
  return { taken, scaleAtMs }
}
