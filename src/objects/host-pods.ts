import type { WorkloadStats } from '../host-protocol/messages.ts'

/** What a host's object answers when a pod's row is about to change. */
export interface PodMark {
  /** The host beats. */
  isHeard: boolean
  /** As in `PodsOnHost`. */
  silentSinceMs: number | null
}

/** What a host's object knows of the pods that run there. */
export interface PodsOnHost {
  /** Last sign of life of a host whose beats are missing; null while it is heard of (POD-23). */
  silentSinceMs: number | null
  stats: WorkloadStats[]
}
