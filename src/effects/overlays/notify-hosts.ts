import type { Env } from '../../env.ts'
import { asPlane } from '../../objects/ownership/as-plane.ts'
import { hostStub } from '../../objects/stubs.ts'
import { logEvent } from '../../platform/log.ts'

/**
 * Notifies hosts with members in private networks that the membership has changed. Best effort: a host that misses it refreshes by itself
 * within a minute.
 */
export async function notifyHostsOfOverlays(env: Env, hostIds: readonly string[]): Promise<void> {
  const notify = async (hostId: string) => {
    try {
      await hostStub(env, asPlane('host', hostId, 'places a workload')).overlaysChanged(hostId)
    } catch (error) {
      logEvent('warn', 'a host could not be notified of a private network', { hostId, error })
    }
  }
  await Promise.all(hostIds.map(notify))
}
