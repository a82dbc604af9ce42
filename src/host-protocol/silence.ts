import { HOST_LEASE_MS } from './messages.ts'

// How long a job waits for a host that has fallen silent. One rule for both sides: the plane gives the job to nobody else before, and the
// host has stopped the job's worker by itself by then (HOST-36, adr/0015).

/** Every job waits this long, because the host needs that time to stop its worker. */
export const SILENCE_MIN_MS = HOST_LEASE_MS + 5_000
/** The host gives up this much before the plane does. */
const HOST_AHEAD_MS = 10_000

/**
 * As long as the job has already run, within bounds. Who gave it up at once would lose what it has done; who waits this long for nothing loses
 * that much again: never more than twice the better of the two.
 */
export function silenceWaitMs(ranMs: number, maxMs: number): number {
  return Math.max(SILENCE_MIN_MS, Math.min(ranMs, maxMs))
}

/** The same for the host, which counts from its own last acknowledged beat and from when the job reached it. */
export function hostPatienceMs(ranMs: number, maxMs: number): number {
  return silenceWaitMs(ranMs, maxMs) - HOST_AHEAD_MS
}
