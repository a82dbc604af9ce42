import { HOST_LEASE_MS } from './messages.ts'

// How long a job waits for a silent host. One rule for both sides: the plane does not give the job to another worker before, and the host
// has stopped the job's worker by then (HOST-36, adr/0015).

/** Minimum wait for every job: the host needs this time to stop its worker. */
export const SILENCE_MIN_MS = HOST_LEASE_MS + 5_000
/** The host stops the worker this much earlier than the plane moves the job. */
const HOST_AHEAD_MS = 10_000

/**
 * Returns the wait in ms: as long as the job has already run, within the minimum and `maxMs`. Moving it at once would lose the work done;
 * waiting in vain loses as much time again. The total loss is thus at most twice that of the better choice.
 */
export function silenceWaitMs(ranMs: number, maxMs: number): number {
  return Math.max(SILENCE_MIN_MS, Math.min(ranMs, maxMs))
}

/** Returns the wait in ms for the host, which counts from its own last acknowledged beat and from the time at which it received the job. */
export function hostPatienceMs(ranMs: number, maxMs: number): number {
  return silenceWaitMs(ranMs, maxMs) - HOST_AHEAD_MS
}
