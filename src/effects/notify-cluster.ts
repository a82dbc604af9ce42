import type { Env } from '../env.ts'
import { asPlane } from '../objects/ownership/as-plane.ts'
import { clusterStub } from '../objects/stubs.ts'
import { logEvent } from '../platform/log.ts'

/** Notifies a cluster's object of a change of a member. Best effort: the object also reconciles periodically by itself. */
export async function notifyCluster(env: Env, clusterId: string | null): Promise<void> {
  if (clusterId === null) return
  try {
    await clusterStub(env, asPlane('cluster', clusterId, 'a host says so')).memberChanged(clusterId)
  } catch (error) {
    logEvent('warn', 'a cluster could not be told of a member', { clusterId, error })
  }
}
