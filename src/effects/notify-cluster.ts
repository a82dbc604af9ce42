import type { Env } from '../env.ts'
import { asPlane } from '../objects/ownership/as-plane.ts'
import { clusterStub } from '../objects/stubs.ts'
import { tryLogged } from '../platform/log.ts'
import type { ClusterRpc } from '../rpc/cluster.ts'

/** Notifies a cluster's object of a change of a member. Best effort: the object also reconciles periodically by itself. */
export async function notifyCluster(env: Env, clusterId: string | null): Promise<void> {
  if (clusterId === null) return
  const cluster = clusterStub(env, asPlane('cluster', clusterId, 'a host reports it'))
  await tryLogged('warn', 'a cluster could not be notified of a member', { clusterId }, () => cluster.memberChanged(clusterId))
}

/**
 * Makes a cluster's object reconcile now. The rows are written, and the object reconciles by itself because it expects them, so a failure is
 * only logged: the caller would take the cluster for not written.
 */
export async function reconcileSoon(object: Pick<ClusterRpc, 'reconcile'>, clusterId: string): Promise<void> {
  await tryLogged('warn', 'a cluster could not be reconciled at once', { clusterId }, () => object.reconcile(clusterId))
}
