import type { Series, Window } from '../domain/history/series.ts'
import type { LinkReplacements } from '../domain/host/link-replacement.ts'
import type { Workload, WorkloadReport, WorkloadStats } from '../host-protocol/messages.ts'

/** The answer to who is about to change a pod's row. */
export interface PodMark {
  /** The host beats, and does not have to be told too much already (HOST-69); otherwise a new pod had better go elsewhere. */
  takesMore: boolean
  silentSinceMs: PodsOnHost['silentSinceMs']
}

/** What a host's object knows of the pods that run there. */
export interface PodsOnHost {
  /** Last sign of life of a host whose beats are missing; null while it is heard of (POD-23). */
  silentSinceMs: number | null
  stats: WorkloadStats[]
  /** Those that do nothing at the moment, and since when (HIS-8). */
  idle: { id: string; sinceMs: number }[]
}

/** What a host's object says of it to the operator. */
export interface HostPresenceView {
  lastBeatAtMs: number
  suspect: boolean
  oversize: boolean
  /** Links that another agent process took over; null: none. */
  replacements: (LinkReplacements & { recent: boolean }) | null
}

/** The object of one machine, as everybody else knows it. `fetch` takes the agent's link (see `host-link.ts`). */
export interface HostRpc extends Rpc.DurableObjectBranded {
  fetch(request: Request): Promise<Response>
  /**
   * Says that a pod's row is about to change; to be followed by `syncPod`, and if the caller dies before, the object looks at the row by
   * itself.
   */
  markPod(hostId: string, podId: string): Promise<PodMark>
  /** Takes one mark away; nothing has changed. */
  unmarkPod(podId: string): Promise<void>
  /** Puts in force what a pod's row says now, and takes one mark away. */
  syncPod(hostId: string, podId: string): Promise<void>
  /** What the host is told of private networks has changed, such as a question whether members reach one another. */
  overlaysChanged(hostId: string): Promise<void>
  /** Returns when something about a pod may have changed, at the latest after `timeoutMs`. */
  podChanged(podId: string, timeoutMs: number): Promise<void>
  /** This host is lost or being emptied: its pods go elsewhere, each as it wants. */
  movePods(hostId: string): Promise<void>
  /** Whether the host is silent, and what containers use at the moment, as far as their agent has said lately. */
  readPods(workloadIds: string[]): Promise<PodsOnHost>
  /** What a pod or worker used while it was here, or with `''` the machine, as columns over a time (HIS-4). */
  readHistory(track: string, window: Window): Promise<Series[]>
  /**
   * Makes the host run a workload. Repeating it changes nothing. False when the host is suspect (no beat for three intervals): it is still
   * online by its lease, but what is given to it now may have to wait for its return.
   */
  assign(hostId: string, workload: Workload, ownerId: string): Promise<boolean>
  /** Whether the host has been told to run this workload. */
  knows(workloadId: string): Promise<boolean>
  /** Makes the host stop a workload. False when it knows no such workload, so nothing of it can be running. */
  stop(workloadId: string, graceMs: number): Promise<boolean>
  /** What the operator sees of the link; null before there has been one. */
  presence(): Promise<HostPresenceView | null>
  /** Marks an assertion as used (HOST-38). */
  spendAssertion(jti: string): Promise<'good' | 'used' | 'too many'>
  /** The operator has removed the host: it is to be taken apart, soon and again until it is. */
  expectRemoval(hostId: string): Promise<void>
  /** The host's identity is withdrawn: its links hear so, and its work is given up. */
  revoke(hostId: string): Promise<void>
  /** Seals anew what the object keeps under a former secret, or under none (PP-213). */
  reseal(): Promise<void>
  /** Workload state changes, for the objects and rows that they concern. */
  report(hostId: string, reports: WorkloadReport[]): Promise<void>
}
