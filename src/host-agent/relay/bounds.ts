/** All timeouts and limits of the relay. Tests shorten the times. */
export const RELAY_BOUNDS = {
  /** How long a take or stop poll is held while the plane cannot be reached, before it is answered 204. */
  pollHoldMs: 25_000,
  /** How long a post waits for the plane's answer before it is written to disk; stock workers wait 20 s or more. */
  spoolAfterMs: 1_000,
  /** A delivery whose connection is idle for this long is aborted and retried. */
  postIdleMs: 30_000,
  /** How long a ping is offered to the plane; by then the worker has sent the next one. */
  pingKeepMs: 10_000,
  retryBaseMs: 250,
  retryMaxMs: 5_000,
  /** More than the plane accepts (20 MiB): a result that is too big must reach the plane, so that the plane can fail the job. */
  bodyMaxBytes: 32 * 2 ** 20,
  /** Limit of all buffered results together, including those that are still arriving; like the next two it is shared as in `RelayRoom`. */
  bufferMaxBytes: 1_024 * 2 ** 20,
  /** Limits of the posts on disk: their number (minutes of 16 workers that stream 10 chunks a second) and the bytes of their files. */
  spoolMaxEntries: 50_000,
  spoolMaxBytes: 1_024 * 2 ** 20,
  /** A post that has waited longer is dropped. This is the longest ttl: no job is older. */
  spoolMaxAgeMs: 7 * 24 * 3_600_000,
  /**
   * Connections that one container may have open; with many workloads, its share of all. A worker has one for each job and three for its
   * polls and pings.
   */
  callerMaxConnections: 1_024,
  /**
   * Connections from an address that belongs to no known worker. A worker that has just started opens a few before its address is known.
   */
  unknownCallerMaxConnections: 32,
  maxConnections: 16_384,
  /** Concurrent requests of one workload to the plane; with many workloads, its share of all. */
  callerMaxUpstream: 64,
  maxUpstream: 2_048,
  /** Requests above this rate are delayed: 16 jobs that stream 30 chunks a second each. */
  callerRequestsPerSecond: 500,
  /** Delay before an unknown caller is refused. */
  refusalDelayMs: 500,
  /** Posts from disk that are delivered concurrently, each of another job. */
  deliverers: 8,
}
export type RelayBounds = typeof RELAY_BOUNDS
