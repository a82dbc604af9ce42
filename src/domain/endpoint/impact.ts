/** The jobs, requests and workers that a change of an endpoint affects, at one moment. */
export interface EndpointImpact {
  /** Jobs that wait in the queue. */
  queued: number
  /** Jobs that workers have leased, and requests of a load-balancing endpoint that are in progress. */
  running: number
  /** Active workers, each with its number of jobs or requests and since when it is idle; null: it is busy, or this is unknown. */
  workers: readonly { id: string; held: number; idleSinceMs: number | null }[]
}

export const NO_IMPACT: EndpointImpact = { queued: 0, running: 0, workers: [] }
