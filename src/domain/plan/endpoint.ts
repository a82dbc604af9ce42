import type { ChangedResource, ChangeEffect } from '../../contract/change-plan.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { EndpointImpact } from '../endpoint/impact.ts'
import type { EndpointConfig } from '../endpoint/record.ts'
import { diffConfigs } from '../endpoint/release-diff.ts'
import { effect, jobsEffect, noEffect, rateEffect } from './effect.ts'
import { type PriceRange, rangeText, workerPriceRange } from './worker-price.ts'

// Plans for changes of an endpoint: effects on its jobs and workers. Pure.

/** Deleting an endpoint: effects on its jobs, workers and cost (DRY-3). */
export function planEndpointDelete(
  resource: ChangedResource,
  { queued, running, workers }: EndpointImpact,
  nanosPerHour: number,
): ChangeEffect[] {
  return [
    ...jobsEffect(resource, 'CANCELS', 'LOSS', queued, ['that waits is cancelled', 'that wait are cancelled']),
    ...jobsEffect(resource, 'CANCELS', 'LOSS', running, ['that runs is cancelled', 'that run are cancelled']),
    ...workers.map(({ id }) => effect({ kind: 'worker', id, name: null }, 'STOPS', 'WARNING', 'the worker is stopped')),
    effect(resource, 'DELETES', 'LOSS', 'its queue, its releases and its stored results are deleted'),
    ...rateEffect(resource, nanosPerHour, 0),
  ]
}

/** An endpoint before and after a PATCH, with its current jobs and workers. */
export interface PlannedUpdate {
  before: EndpointConfig
  after: EndpointConfig
  impact: EndpointImpact
  /** Current cost of its workers per hour, in nano-USD. */
  nanosPerHour: number
  catalog: Catalog
}

/** Effects of a PATCH on an endpoint, its workers and jobs (DRY-7). */
export function planEndpointUpdate(resource: ChangedResource, update: PlannedUpdate): ChangeEffect[] {
  const { before, after } = update
  if (after.revision === before.revision) return noEffect(resource)
  const fields = diffConfigs(before, after).map(({ field }) => field.replace(/^template\./, ''))
  const isRelease = after.version !== before.version
  const named = fields.length > 0 ? fields.join(', ') : 'the template that it refers to'
  const what = isRelease ? `release ${after.version} is created: ${named} changed` : `changes ${named} at once, without a release`
  return [
    effect(resource, 'CHANGES', 'INFO', what),
    ...workerPrice(resource, update),
    ...(isRelease ? replacements(update) : stays(resource, update)),
    ...starts(resource, update),
    ...jobsOf(resource, update),
    ...rateAfter(resource, update, isRelease),
  ]
}

/** Each worker of the previous release finishes its jobs. A worker of the new release replaces it as far as workers.max allows. */
function replacements({ after, impact }: PlannedUpdate): ChangeEffect[] {
  return impact.workers.map(({ id, held }, index) => {
    const first = held > 0 ? `once it has finished ${held} ${held === 1 ? 'job' : 'jobs'}, ` : ''
    const worker = { kind: 'worker' as const, id, name: null }
    if (index >= after.workers.max) return effect(worker, 'STOPS', 'WARNING', `${first}the worker stops`)
    return effect(worker, 'RESTARTS', 'WARNING', `${first}the worker is replaced by one of release ${after.version}`)
  })
}

/** Workers above a lower workers.max stop, idle ones before busy ones. */
function stays(resource: ChangedResource, { after, impact }: PlannedUpdate): ChangeEffect[] {
  const kept = Math.min(impact.workers.length, after.workers.max)
  const gone = impact.workers.toSorted((one, other) => one.held - other.held).slice(0, impact.workers.length - kept)
  const going = gone.map(({ id, held }) =>
    effect({ kind: 'worker', id, name: null }, 'STOPS', 'WARNING', held > 0 ? 'the worker stops once it is free' : 'the worker stops'),
  )
  const staying = kept === 1 ? '1 worker keeps running unchanged' : `${kept} workers keep running unchanged`
  return [...going, ...(kept > 0 ? [effect(resource, 'STAYS', 'INFO', staying)] : [])]
}

function starts(resource: ChangedResource, { after, impact }: PlannedUpdate): ChangeEffect[] {
  const more = after.workers.min - impact.workers.length
  if (more <= 0) return []
  const what = `${more} ${more === 1 ? 'worker is' : 'workers are'} started, because workers.min is ${after.workers.min}`
  return [{ ...effect(resource, 'STARTS', 'INFO', what), amount: more }]
}

function jobsOf(resource: ChangedResource, { after, impact }: PlannedUpdate): ChangeEffect[] {
  const { queued, running } = impact
  const waits =
    after.workers.max === 0
      ? jobsEffect(resource, 'WAITS', 'WARNING', queued, ['keeps waiting: workers.max is 0', 'keep waiting: workers.max is 0'])
      : jobsEffect(resource, 'STAYS', 'INFO', queued, ['that waits keeps its place', 'that wait keep their place'])
  return [...jobsEffect(resource, 'FINISHES', 'INFO', running, ['that runs is finished', 'that run are finished']), ...waits]
}

/** Change of a worker's price per hour on the compute that it may run on; empty when the price stays. */
function workerPrice(resource: ChangedResource, { before, after, catalog }: PlannedUpdate): ChangeEffect[] {
  const [previous, next] = [priceRange(catalog, before), priceRange(catalog, after)]
  if (previous.low === next.low && previous.high === next.high) return []
  return [effect(resource, 'CHANGES', 'INFO', `a worker costs ${rangeText(next)} USD per hour; before: ${rangeText(previous)}`)]
}

/**
 * Change of the endpoint's rate. The number of workers stays within the new bounds; new workers are counted at the dearest compute that
 * they may get.
 */
function rateAfter(resource: ChangedResource, { after, impact, nanosPerHour, catalog }: PlannedUpdate, isRelease: boolean): ChangeEffect[] {
  const now = impact.workers.length
  const then = Math.max(after.workers.min, Math.min(now, after.workers.max))
  const { low, high } = priceRange(catalog, after)
  const kept = isRelease ? 0 : Math.min(now, then)
  const keptNanos = kept === 0 ? 0 : Math.round((nanosPerHour * kept) / now)
  const isEstimate = then > kept && low !== high
  return rateEffect(resource, nanosPerHour, keptNanos + (then - kept) * high, isEstimate ? ' at most' : '')
}

// Without any offered compute, no worker starts and none costs anything.
function priceRange(catalog: Catalog, config: EndpointConfig): PriceRange {
  return workerPriceRange(catalog, config) ?? { low: 0, high: 0 }
}
