import type { Env } from '../../env.ts'
import type { OverlayReport } from '../../host-protocol/overlays.ts'
import { asPlane } from '../../objects/ownership/as-plane.ts'
import { clusterStub } from '../../objects/stubs.ts'

/** Forwards a host's report about the members of a cluster; the host repeats it when this throws. */
export async function notifyClusterOfReach(env: Env, hostId: string, clusterId: string, report: OverlayReport): Promise<void> {
  await clusterStub(env, asPlane('cluster', clusterId, 'a host reports it')).overlayReported(hostId, report)
}
