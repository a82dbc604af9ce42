import { sameBut } from '../same-but.ts'
import type { Worker } from './worker.ts'

const SIGNS: ReadonlySet<string> = new Set(['lastSeenAtMs', 'lastTakeAtMs', 'idleSinceMs', 'watchedUntilMs'])
/** Resolution of the last take in a worker's row. */
const TAKE_GRAIN_MS = 60_000

/**
 * Whether the row of a worker need not be written (LSE-24), because only the time of its last sign of life has changed. The row is written
 * once a minute while the worker takes, and when it gets a job after an idle time: a row without an idle time means that it is unknown.
 */
export function isSign(inRow: Worker, worker: Worker): boolean {
  return hasSignsOnly(inRow, worker) && isTakeKnown(inRow, worker) && isIdleKnown(inRow, worker)
}

// The time of a take decides something only if the worker is idle at that time (WRK-44); a worker without a job takes at once.
function isTakeKnown(inRow: Worker, worker: Worker): boolean {
  if (takeInRow(inRow) === takeInRow(worker)) return true
  if (inRow.phase !== 'READY' || worker.phase !== 'READY' || worker.lastSeenAtMs === null || inRow.idleSinceMs !== null) return false
  return worker.idleSinceMs === null || (worker.lastTakeAtMs ?? 0) < worker.idleSinceMs
}

/** Whether only the signs of life and the idle time of a worker differ from its row. */
export function hasSignsOnly(inRow: Worker, worker: Worker): boolean {
  return sameBut(inRow, worker, SIGNS)
}

// A worker that serves requests does not ping. Whether it has requests is stored in its row, because no other record has it.
function isIdleKnown(inRow: Worker, worker: Worker): boolean {
  if (inRow.phase !== 'READY' || worker.phase !== 'READY') return true
  return inRow.idleSinceMs === worker.idleSinceMs || (inRow.idleSinceMs === null && worker.lastSeenAtMs !== null)
}

/**
 * Last take of a worker as its row stores it, rounded up, so that a worker does not count as one that stopped taking (WRK-44) because its
 * queue was loaded from rows. Milliseconds since the epoch; null: it does not take.
 */
export function takeInRow(worker: Worker): number | null {
  if (!('lastTakeAtMs' in worker) || worker.lastTakeAtMs === null) return null
  return Math.ceil(worker.lastTakeAtMs / TAKE_GRAIN_MS) * TAKE_GRAIN_MS
}
