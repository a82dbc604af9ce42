import { UpdateEndpointRequest } from '../../contract/endpoints/endpoints.ts'
import type { WhyCode } from '../../contract/explain/explain.ts'
import type { WhyOptionKind } from '../../contract/explain-options.ts'
import { workerRates } from '../billing/worker-rates.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { patchEndpointConfig } from '../endpoint/config.ts'
import type { EndpointConfig } from '../endpoint/record.ts'
import { type PlacementHost, rankHosts } from '../host/placement.ts'
import { totalNanos } from '../money.ts'
import { placementRequestOf } from '../worker/shape.ts'
import { endpointLadders } from './endpoint-changes.ts'
import { searchedHosts } from './hosts.ts'
import { type Found, type Probe, searchOptions } from './search.ts'

/** Changes of an endpoint with which a worker fits at present (WHY-10). Pure. */

type Patch = UpdateEndpointRequest

/** The facts that the options of an endpoint are searched in. */
export interface EndpointWorld {
  config: EndpointConfig
  catalog: Catalog
  hosts: readonly PlacementHost[]
}

/** Trial of a change: whether it would be accepted and a worker placed after it, by the rules that patch endpoints and place workers. */
export function endpointProbe({ config, catalog, hosts }: EndpointWorld): Probe<Patch> {
  return (patch) => {
    if (!UpdateEndpointRequest.safeParse(patch).success) return null
    const patched = patchEndpointConfig(catalog, config, patch)
    if (!patched.ok) return null
    const request = placementRequestOf(catalog, patched.config)
    const [best] = rankHosts(request, hosts).candidates
    return best ? { nanosPerHour: totalNanos(workerRates(catalog, best.shape, request.diskGb)), hostIds: [best.hostId] } : null
  }
}

/** Smallest changes with which a worker fits that fits on no host. */
export function endpointOptions(given: EndpointWorld): Found<Patch>[] {
  const world = { ...given, hosts: searchedHosts(given.config.teamId, given.hosts) }
  return searchOptions({}, endpointLadders(world.config, world.catalog, world.hosts), endpointProbe(world))
}

/** Change of workers.max or workers.min with which another worker starts, if one fits; null: they are not the cause, or no worker fits. */
export function limitOption(world: EndpointWorld, code: WhyCode): Found<Patch> | null {
  const { min, max } = world.config.workers
  const change = LIMITS[code]?.({ min, max })
  const fit = change && endpointProbe(world)(change.asked)
  return change && fit ? { ...change, ...fit } : null
}

type Bounds = Pick<EndpointConfig['workers'], 'min' | 'max'>
type Raise = (bounds: Bounds) => { kind: WhyOptionKind; summary: string; asked: Patch }

const raiseMax: Raise = ({ max }) => {
  return { kind: 'WORKERS_MAX', summary: `raise workers.max from ${max} to ${max + 1}`, asked: { workers: { max: max + 1 } } }
}

const LIMITS: Partial<Record<WhyCode, Raise>> = {
  SCALED_TO_ZERO_BY_CONFIG: raiseMax,
  AT_WORKERS_MAX: raiseMax,
  LOW_PRIORITY: () => ({ kind: 'WORKERS_MIN', summary: 'keep one worker: workers.min 1', asked: { workers: { min: 1 } } }),
}

/** Cost of the cheapest worker of an endpoint, nano-USD per hour; null where no compute is offered. */
export function cheapestWorker({ config, catalog }: Pick<EndpointWorld, 'config' | 'catalog'>): number | null {
  const { shapes, diskGb } = placementRequestOf(catalog, config)
  const nanos = shapes.map((shape) => totalNanos(workerRates(catalog, shape, diskGb)))
  return nanos.length === 0 ? null : Math.min(...nanos)
}
