import type { ChangedResource, ChangeEffect } from '../../contract/change-plan.ts'
import type { EndpointStake } from '../endpoint/stake.ts'
import { effect, jobsEffect, rateEffect } from './effect.ts'

// What becomes of an endpoint's jobs and workers. Pure.

/** What deleting an endpoint does to what hangs on it (DRY-3). */
export function planEndpointDelete(
  resource: ChangedResource,
  { queued, running, workers }: EndpointStake,
  nanosPerHour: number,
): ChangeEffect[] {
  return [
    ...jobsEffect(resource, 'CANCELS', 'LOSS', queued, 'that wait are cancelled'),
    ...jobsEffect(resource, 'CANCELS', 'LOSS', running, 'that run are cancelled'),
    ...workers.map(({ id }) => effect({ kind: 'worker', id, name: null }, 'STOPS', 'WARNING', 'the worker is stopped')),
    effect(resource, 'DELETES', 'LOSS', 'its queue, its releases and the results that it keeps are gone'),
    ...rateEffect(resource, nanosPerHour, 0),
  ]
}
