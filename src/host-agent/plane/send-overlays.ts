import type { OverlayReport, OverlaysRequest } from '../../host-protocol/overlays.ts'
import { errorText } from '../../node/fail.ts'
import type { Log } from '../log.ts'
import { type AccessTokens, IdentityRefused } from './access-tokens.ts'
import type { PlaneClock } from './clock-offset.ts'
import { planeUrl, postToPlane } from './http.ts'

/**
 * Returns a function that reports to the plane once which members of private networks reach one another; false when the plane did not take
 * it.
 */
export function createOverlaysSender(base: string, tokens: AccessTokens, clock: PlaneClock, log: Log) {
  return async function sendOverlays(reports: OverlayReport[]): Promise<boolean> {
    try {
      const token = await tokens.get()
      const request: OverlaysRequest = { reports }
      const answer = await postToPlane(planeUrl(base, '/host/v1/overlays'), request, clock, token)
      if (answer.status === 200) return true
      if (answer.status === 401) tokens.invalidate(token)
      log.warn('the plane did not accept the report on private networks', { status: answer.status, detail: answer.detail })
    } catch (error) {
      if (!(error instanceof IdentityRefused))
        log.debug('the report on private networks cannot be sent to the plane', { error: errorText(error) })
    }
    return false
  }
}
