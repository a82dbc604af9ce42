import { sameBut } from '../same-but.ts'
import type { Worker } from './worker.ts'

const SIGNS: ReadonlySet<string> = new Set(['lastSeenAtMs', 'lastTakeAtMs', 'idleSinceMs'])
/** How exactly a row knows the last take of its worker. */
const TAKE_GRAIN_MS = 60_000

/**
 * Whether the row of a worker may stay as it is (LSE-24): nothing has changed but when the worker was last heard of. It is written once a minute
 * while the worker asks for work, and when it gets a job after a time without: a row without an idle time says that it is unknown.
 */
export function isSign(inRow: Worker, worker: Worker): boolean {
  return hasSignsOnly(inRow, worker) && takeInRow(inRow) === takeInRow(worker) && isIdleKnown(inRow, worker)
}

/** Whether nothing else has changed than what the row says of a worker's signs of life and its idle time. */
export function hasSignsOnly(inRow: Worker, worker: Worker): boolean {
  return sameBut(inRow, worker, SIGNS)
}

// One that serves requests does not ping. Whether it has any is in its row, because nothing else has it.
function isIdleKnown(inRow: Worker, worker: Worker): boolean {
  if (inRow.phase !== 'READY' || worker.phase !== 'READY') return true
  return inRow.idleSinceMs === worker.idleSinceMs || (inRow.idleSinceMs === null && worker.lastSeenAtMs !== null)
}

/**
 * The last take of a worker as its row has it: no earlier than any that the row stands for, so that a worker does not count as one that
 * stopped asking (PP-28) because its queue was loaded anew. Milliseconds; null: it does not take.
 */
export function takeInRow(worker: Worker): number | null {
  if (!('lastTakeAtMs' in worker) || worker.lastTakeAtMs === null) return null
  return Math.ceil(worker.lastTakeAtMs / TAKE_GRAIN_MS) * TAKE_GRAIN_MS
}
