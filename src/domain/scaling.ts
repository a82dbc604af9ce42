import type { Worker } from './worker.ts'

/** All that a scaling decision looks at. Pure: same inputs, same decision. */
export interface ScalingInputs {
  /** Queued jobs that may start workers: low priority ones are left out (SCALE-4). */
  queued: number
  workers: readonly Worker[]
  /** Jobs held, by worker id. */
  held: ReadonlyMap<string, number>
  min: number
  max: number
  idleTimeoutMs: number
  /** Current release: workers of another version are stale (SCALE-6). */
  version: number
  /** After failures, no worker is started before this. */
  launchNotBeforeMs: number
  nowMs: number
}

export interface ScalingDecision {
  desired: number
  start: number
  stop: string[]
  /** When to decide again although nothing happened. */
  nextAtMs: number | null
}

/** Workers of one endpoint that look for a host at the same time. */
const MAX_PLACING = 10
const BACKOFF_BASE_MS = 1_000
const BACKOFF_MAX_MS = 5 * 60_000

/** Delay before the next start after that many failures in a row: 1 s, 2 s, 4 s … 5 min. */
export function launchBackoffMs(failures: number): number {
  return failures <= 0 ? 0 : Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** Math.min(failures - 1, 20))
}

/** One worker per queued job without a free worker, within min..max; idle ones stop after the idle timeout (SCALE-5). */
export function decideScaling(inputs: ScalingInputs): ScalingDecision {
  const { workers, held, nowMs } = inputs
  const live = workers.filter((w) => w.phase === 'PLACING' || w.phase === 'STARTING' || w.phase === 'READY')
  const stale = live.filter((w) => w.version !== inputs.version && (held.get(w.id) ?? 0) === 0)
  const current = live.filter((w) => !stale.includes(w))
  const free = current.filter((w) => w.phase !== 'READY' || (held.get(w.id) ?? 0) === 0)

  const wanted = current.length + Math.max(0, inputs.queued - free.length)
  // Draining workers that still finish a job take part in what may run at the same time.
  const finishing = workers.filter((w) => w.phase === 'DRAINING' && (held.get(w.id) ?? 0) > 0).length
  const desired = Math.min(Math.max(inputs.min, wanted), Math.max(0, inputs.max - finishing))
  const missing = Math.max(0, desired - current.length)
  const mayLaunch = nowMs >= inputs.launchNotBeforeMs
  const start = mayLaunch ? Math.min(missing, roomToPlace(current)) : 0

  const stop = stale.map((w) => w.id)
  const surplus = surplusWorkers(inputs, current, stop)
  return {
    desired,
    start,
    stop: [...stop, ...surplus.stop],
    nextAtMs: missing > 0 && !mayLaunch ? inputs.launchNotBeforeMs : surplus.nextAtMs,
  }
}

// A long queue and no capacity must not become thousands of workers that all look for a host: a few at a time, and while one of them
// has found no room, no more.
function roomToPlace(current: readonly Worker[]): number {
  const placing = current.filter((w) => w.phase === 'PLACING')
  return placing.some((w) => w.attempts > 0) ? 0 : Math.max(0, MAX_PLACING - placing.length)
}

function surplusWorkers(inputs: ScalingInputs, current: readonly Worker[], alreadyStopping: readonly string[]) {
  const stop: string[] = []
  let nextAtMs: number | null = null
  let left = current.length
  const idle = current
    .filter((w) => (inputs.held.get(w.id) ?? 0) === 0 && !alreadyStopping.includes(w.id))
    .sort((a, b) => (a.idleSinceMs ?? a.createdAtMs) - (b.idleSinceMs ?? b.createdAtMs))
  for (const worker of idle) {
    const expiry = (worker.idleSinceMs ?? Number.POSITIVE_INFINITY) + inputs.idleTimeoutMs
    const unneededPlacing = worker.phase === 'PLACING' && inputs.queued === 0 && left > inputs.min
    const overMax = left > inputs.max
    const idledOut = left > inputs.min && inputs.queued === 0 && inputs.nowMs >= expiry
    if (overMax || unneededPlacing || idledOut) {
      stop.push(worker.id)
      left--
    } else if (left > inputs.min && Number.isFinite(expiry) && inputs.nowMs < expiry) {
      nextAtMs = Math.min(nextAtMs ?? expiry, expiry)
    }
  }
  return { stop, nextAtMs }
}
