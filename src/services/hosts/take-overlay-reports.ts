import { openDatabase } from '../../db/client.ts'
import { findReported } from '../../db/overlays/overlay-rows.ts'
import { notifyClusterOfReach } from '../../effects/overlays/forward-report.ts'
import type { Env } from '../../env.ts'
import type { OverlayReport } from '../../host-protocol/overlays.ts'
import type { Owned } from '../../objects/owned.ts'

/** Forwards a host's reports about the connections between cluster members, restricted to its own live members (NET-47). */
export async function takeOverlayReports(env: Env, host: Owned<'host'>, reports: readonly OverlayReport[]): Promise<void> {
  for (const report of reports) {
    const named = [...report.ready, ...report.gaps.map(({ from }) => from)]
    const found = await findReported(openDatabase(env.DB), host.id, report.overlayId, named)
    if (found?.kind !== 'cluster') continue
    const ready = report.ready.filter((id) => found.onHost.has(id))
    const gaps = report.gaps.filter(({ from }) => found.onHost.has(from))
    if (ready.length + gaps.length > 0) await notifyClusterOfReach(env, host.id, found.ownerId, { ...report, ready, gaps })
  }
}
