import type { Env } from '../../env.ts'
import { asPlane } from '../../objects/ownership/as-plane.ts'
import { hostStub } from '../../objects/stubs.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import { tryLogged } from '../../platform/log.ts'

/**
 * Notifies hosts with members in private networks that the membership has changed, or that a check of it was started. Best effort: a host
 * that misses it refreshes by itself within a minute.
 */
export async function notifyHostsOfOverlays(env: Env, hostIds: readonly string[]): Promise<void> {
  const notify = (hostId: string) => {
    const host = hostStub(env, asPlane('host', hostId, 'places a workload'))
    return tryLogged('warn', 'a host could not be notified of a private network', { hostId }, () => host.overlaysChanged(hostId))
  }
  await mapAtOnce(hostIds, notify)
}
