import type { OverlayReport } from '../host-protocol/overlays.ts'

/** The object of one cluster, as everybody else knows it: it decides what becomes of the members, one thing at a time. */
export interface ClusterRpc extends Rpc.DurableObjectBranded {
  /** The cluster's rows are about to be written; whoever says so asks for a look afterwards, and if the caller dies before, the object looks by itself. */
  expect(clusterId: string): Promise<void>
  /** Puts in force what the cluster's rows say now. Repeating it changes nothing. */
  look(clusterId: string): Promise<void>
  /** Something about a member has changed: the object looks soon, and the caller does not wait for it. */
  memberChanged(clusterId: string): Promise<void>
  /** A host says which of its members reach all the others. */
  overlayReported(hostId: string, report: OverlayReport): Promise<void>
}
