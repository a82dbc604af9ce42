import { type VolumesRequest, VolumesResponse } from '../../host-protocol/volumes.ts'
import { errorText } from '../../node/fail.ts'
import type { Log } from '../log.ts'
import { type AccessTokens, IdentityRefused } from './access-tokens.ts'
import type { PlaneClock } from './clock-offset.ts'
import { planeUrl, postToPlane } from './http.ts'

/**
 * Returns a function that reports volumes to the plane once; undefined when the plane did not take it. A plane without this endpoint
 * answers 404, which is not logged.
 */
export function createVolumesSender(base: string, tokens: AccessTokens, clock: PlaneClock, log: Log) {
  return async function sendVolumes(request: VolumesRequest): Promise<VolumesResponse | undefined> {
    try {
      const token = await tokens.get()
      const answer = await postToPlane(planeUrl(base, '/host/v1/volumes'), request, clock, token)
      if (answer.status === 200) return VolumesResponse.parse(answer.body)
      if (answer.status === 401) tokens.invalidate(token)
      if (answer.status !== 404)
        log.warn('the plane did not accept the report on volumes', { status: answer.status, detail: answer.detail })
    } catch (error) {
      if (!(error instanceof IdentityRefused)) log.debug('the report on volumes cannot be sent to the plane', { error: errorText(error) })
    }
    return undefined
  }
}
