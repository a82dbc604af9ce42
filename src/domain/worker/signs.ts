import { sameBut } from '../same-but.ts'
import type { Worker } from './worker.ts'

const SIGNS: ReadonlySet<string> = new Set(['lastSeenAtMs', 'lastTakeAtMs'])
/** How exactly a row knows the last take of its worker. */
const TAKE_GRAIN_MS = 60_000

/**
 * Whether nothing has changed but when a worker was last heard of: its row stays as it is (LSE-24), but for one write a minute while it asks for
 * work.
 */
export function isSign(before: Worker, after: Worker): boolean {
  return sameBut(before, after, SIGNS) && takeInRow(before) === takeInRow(after)
}

/**
 * The last take of a worker as its row has it: no earlier than any that the row stands for, so that nobody is taken for one that stopped asking
 * (PP-28) because its queue was loaded anew. Milliseconds; null: it does not take.
 */
export function takeInRow(worker: Worker): number | null {
  if (!('lastTakeAtMs' in worker) || worker.lastTakeAtMs === null) return null
  return Math.ceil(worker.lastTakeAtMs / TAKE_GRAIN_MS) * TAKE_GRAIN_MS
}
