import type { OverlayReport } from '../host-protocol/overlays.ts'

/** RPC interface of the object of one cluster, which decides the steps of its members, serially. */
export interface ClusterRpc extends Rpc.DurableObjectBranded {
  /** Announces a write of the cluster's rows. The caller calls `reconcile` afterwards; if it crashes before, the object reconciles by itself. */
  expect(clusterId: string): Promise<void>
  /** Reconciles the members with the cluster's rows. Idempotent. */
  reconcile(clusterId: string): Promise<void>
  /** Schedules a reconciliation after a change of a member; the caller does not wait for it. */
  memberChanged(clusterId: string): Promise<void>
  /** Stores a host's report on which of its members reach all others. */
  overlayReported(hostId: string, report: OverlayReport): Promise<void>
}
