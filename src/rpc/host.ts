import type { Series, Window } from '../domain/history/series.ts'
import type { LinkReplacements } from '../domain/host/link-replacement.ts'
import type { WorkerTransport, Workload, WorkloadReport } from '../host-protocol/messages.ts'
import type { WorkloadStats } from '../host-protocol/stats.ts'

/** Reply to a caller that is about to change a pod's row. */
export interface PodIntent {
  /**
   * Whether the host beats and its desired state has space for another workload (HOST-69); otherwise a new pod should be placed elsewhere.
   */
  takesMore: boolean
  silentSinceMs: PodsOnHost['silentSinceMs']
}

/** State of a host's pods, from the host's object. */
export interface PodsOnHost {
  /** Last sign of life of a host whose beats are missing; null while it beats (POD-23). */
  silentSinceMs: number | null
  stats: WorkloadStats[]
  /** Idle workloads, and since when (HIS-8). */
  idle: { id: string; sinceMs: number }[]
}

/** State of a host's link for the operator. */
export interface HostPresenceView {
  lastBeatAtMs: number
  suspect: boolean
  oversize: boolean
  /** Number and time of takeovers of the link by another agent process; null: none. */
  replacements: (LinkReplacements & { recent: boolean }) | null
  /** How the calls of workers reach the plane, by endpoint; null: not reported. */
  transports: readonly WorkerTransport[] | null
}

/** RPC interface of the object of one host. `fetch` accepts the agent's link (see `host-link.ts`). */
export interface HostRpc extends Rpc.DurableObjectBranded {
  fetch(request: Request): Promise<Response>
  /** Announces a change of a pod's row. The caller calls `syncPod` afterwards; if it crashes before, the object reads the row by itself. */
  recordPodIntent(hostId: string, podId: string): Promise<PodIntent>
  /** Removes one intent record without a change of the row. */
  clearPodIntent(podId: string): Promise<void>
  /** Applies a pod's row to the desired state, and removes one intent record. */
  syncPod(hostId: string, podId: string): Promise<void>
  /** The private networks of the host have changed, or a check of whether their members reach one another was started. */
  overlaysChanged(hostId: string): Promise<void>
  /** Returns when a pod may have changed, at the latest after `timeoutMs`. */
  waitForPodChange(podId: string, timeoutMs: number): Promise<void>
  /** The host is lost or drained: its pods move elsewhere, each according to its own settings. */
  movePods(hostId: string): Promise<void>
  /** Whether the host is silent, and the current resource use of containers, as far as it was reported recently. */
  readPods(workloadIds: string[]): Promise<PodsOnHost>
  /** Resource use of a pod or worker while it was on this host, or with `''` of the host, as columns over a period (HIS-4). */
  readHistory(track: string, window: Window): Promise<Series[]>
  /**
   * Adds a workload to the host's desired state. Idempotent. False when the host is suspect (no beat for three intervals) or its desired
   * state is full: a suspect host is still online by its lease, but a new workload might wait for its return.
   */
  assign(hostId: string, workload: Workload, ownerId: string): Promise<boolean>
  /** Whether the host's desired state contains this workload. */
  knows(workloadId: string): Promise<boolean>
  /** Sets a workload's desired state to stopped. False when the host does not have it, so nothing of it can be running. */
  stop(workloadId: string, graceMs: number): Promise<boolean>
  /** State of the link for the operator; null before the first link. */
  presence(): Promise<HostPresenceView | null>
  /** Marks an assertion as used (HOST-38). */
  spendAssertion(jti: string): Promise<'good' | 'used' | 'too many'>
  /** Announces that the operator removes the host; `revoke` follows, and the timer repeats it until it succeeds. */
  expectRemoval(hostId: string): Promise<void>
  /** Withdraws the host's identity: its links are notified, and its workloads are given up. */
  revoke(hostId: string): Promise<void>
  /** Reseals values that are stored under a previous secret or in plain text (SEAL-3). */
  reseal(): Promise<void>
  /** Passes workload reports on to the objects and rows that they concern. */
  report(hostId: string, reports: WorkloadReport[]): Promise<void>
}
