/** What hangs on an endpoint at one moment. */
export interface EndpointStake {
  /** Jobs that wait. */
  queued: number
  /** Jobs that workers hold, and requests of a load-balancing endpoint that are under way. */
  running: number
  /** Workers that take part in something, with how many jobs or requests each holds, and since when none; null: it works, or nobody knows. */
  workers: readonly { id: string; held: number; idleSinceMs: number | null }[]
}

export const NO_STAKE: EndpointStake = { queued: 0, running: 0, workers: [] }
