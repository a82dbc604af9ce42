import type { Worker } from './worker.ts'

const MOVED = [
  'startedAtMs',
  'nextAttemptAtMs',
  'lastSeenAtMs',
  'excusedUntilMs',
  'loadedAtMs',
  'watchedUntilMs',
  'lastTakeAtMs',
  'idleSinceMs',
  'forgetAtMs',
]

/**
 * The same worker after the clock was set by `byMs`: its times are moved, so the time left until each deadline stays the same (CLK-3,
 * CLK-4).
 */
export function movedWorker<W extends Worker>(worker: W, byMs: number): W {
  const moved = Object.entries(worker).map(([name, value]) => [
    name,
    MOVED.includes(name) && typeof value === 'number' ? value + byMs : value,
  ])
  // The properties are those of the worker, each with a value of the same type.
  return Object.fromEntries(moved) as W
}
