import { asPlane } from '../../../src/objects/ownership/as-plane.ts'
import { endpointStub } from '../../../src/objects/stubs.ts'
import { logEvent } from '../../../src/platform/log.ts'
import type { EndpointCore } from '../core.ts'

/** PP-182: an endpoint that looked for room here looks again. One that is not told looks again by itself in the end. */
export async function tellOfRoom(core: EndpointCore, endpointId: string): Promise<void> {
  try {
    await endpointStub(core.env, asPlane('endpoint', endpointId, 'makes room')).capacityAppeared()
  } catch (error) {
    logEvent('warn', 'an endpoint that looks for room could not be told', { endpointId, error })
  }
}
