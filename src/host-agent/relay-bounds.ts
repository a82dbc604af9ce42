/** Everything the relay waits for, and how much it holds. Tests shorten the times. */
export interface RelayBounds {
  /** How long a take or stop poll is held while the plane is away, before it is answered 204. */
  pollHoldMs: number
  /** How long a result is offered to the plane before the worker is told that it failed. */
  deliverMs: number
  pingTimeoutMs: number
  retryBaseMs: number
  retryMaxMs: number
  bodyMaxBytes: number
  /** All buffered results together, those that are still arriving included. */
  bufferMaxBytes: number
}

export const RELAY_BOUNDS: RelayBounds = {
  pollHoldMs: 25_000,
  deliverMs: 300_000,
  pingTimeoutMs: 10_000,
  retryBaseMs: 250,
  retryMaxMs: 5_000,
  // More than the plane takes (20 MiB): it has to hear about a result that is too big, so that it can fail the job.
  bodyMaxBytes: 32 * 2 ** 20,
  bufferMaxBytes: 1_024 * 2 ** 20,
}
