import type { Env } from '../../../src/env.ts'
import { asPlane } from '../../../src/objects/ownership/as-plane.ts'
import { endpointStub } from '../../../src/objects/stubs.ts'
import { logEvent } from '../../../src/platform/log.ts'

/** PREEMPT-3: notifies an endpoint that needs capacity to place its workers again. Without the notice it retries by itself later. */
export async function notifyOfCapacity(env: Env, endpointId: string): Promise<void> {
  try {
    await endpointStub(env, asPlane('endpoint', endpointId, 'preempts workers')).capacityAppeared()
  } catch (error) {
    logEvent('warn', 'an endpoint that searches for capacity could not be notified', { endpointId, error })
  }
}
