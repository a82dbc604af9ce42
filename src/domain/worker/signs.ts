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

// While a worker has a job, the time of its take decides nothing (WRK-44).
function isTakeKnown(inRow: Worker, worker: Worker): boolean {
  const isBusy = worker.phase === 'READY' && worker.idleSinceMs === null && worker.lastSeenAtMs !== null
  const wasBusy = inRow.phase === 'READY' && inRow.idleSinceMs === null
  return (isBusy && wasBusy) || takeInRow(inRow) === takeInRow(worker)
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
