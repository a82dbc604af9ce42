/** Everything the relay waits for, and how much it holds. Tests shorten the times. */
export interface RelayBounds {
  /** How long a take or stop poll is held while the plane is away, before it is answered 204. */
  pollHoldMs: number
  /** How long a post waits for the plane's answer before it is put on disk; stock workers wait 20 s or more. */
  spoolAfterMs: number
  /** A delivery on whose connection nothing moves for so long is broken off and tried again. */
  postIdleMs: number
  /** How long a ping is offered to the plane; by then the worker has sent the next one. */
  pingKeepMs: number
  retryBaseMs: number
  retryMaxMs: number
  bodyMaxBytes: number
  /** All buffered results together, those that are still arriving included; like the next two, shared as `RelayRoom` says. */
  bufferMaxBytes: number
  /** Posts on disk, and what their bodies take. */
  spoolMaxEntries: number
  spoolMaxBytes: number
  /** A post that waited longer is dropped. */
  spoolMaxAgeMs: number
  /** Connections that one container may have open; with many workloads, its share of all. */
  callerMaxConnections: number
  /** Connections from an address of which no worker is known to speak yet. */
  strangerMaxConnections: number
  maxConnections: number
  /** Requests to the plane that one workload may have under way; with many workloads, its share of all. */
  callerMaxUpstream: number
  maxUpstream: number
  /** Faster askers are made to wait. */
  callerRequestsPerSecond: number
  /** How long a stranger waits for being told so. */
  refusalDelayMs: number
  /** Posts from the disk that are on their way at the same time, each of another job. */
  deliverers: number
}

export const RELAY_BOUNDS: RelayBounds = {
  pollHoldMs: 25_000,
  spoolAfterMs: 1_000,
  postIdleMs: 30_000,
  pingKeepMs: 10_000,
  retryBaseMs: 250,
  retryMaxMs: 5_000,
  // More than the plane takes (20 MiB): it has to hear about a result that is too big, so that it can fail the job.
  bodyMaxBytes: 32 * 2 ** 20,
  bufferMaxBytes: 1_024 * 2 ** 20,
  // Minutes of 16 workers that stream 10 chunks a second.
  spoolMaxEntries: 50_000,
  spoolMaxBytes: 1_024 * 2 ** 20,
  // The longest ttl: no job is older.
  spoolMaxAgeMs: 7 * 24 * 3_600_000,
  // A worker has one for each job and three for its polls and pings.
  callerMaxConnections: 1_024,
  // A worker that has just started opens a handful before it is known.
  strangerMaxConnections: 32,
  maxConnections: 16_384,
  callerMaxUpstream: 64,
  maxUpstream: 2_048,
  // 16 jobs that stream 30 chunks a second each.
  callerRequestsPerSecond: 500,
  refusalDelayMs: 500,
  deliverers: 8,
}
