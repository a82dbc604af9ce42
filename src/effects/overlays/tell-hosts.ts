import type { Env } from '../../env.ts'
import { asPlane } from '../../objects/ownership/as-plane.ts'
import { hostStub } from '../../objects/stubs.ts'
import { logEvent } from '../../platform/log.ts'

/** Who is in private networks has changed: hosts that have members there look. One that does not hear it looks within a minute by itself. */
export async function tellHostsOfOverlays(env: Env, hostIds: readonly string[]): Promise<void> {
  const tell = async (hostId: string) => {
    try {
      await hostStub(env, asPlane('host', hostId, 'places work')).overlaysChanged(hostId)
    } catch (error) {
      logEvent('warn', 'a host could not be told of a private network', { hostId, error })
    }
  }
  await Promise.all(hostIds.map(tell))
}
