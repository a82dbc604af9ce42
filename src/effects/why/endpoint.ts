import type { UpdateEndpointRequest } from '../../contract/endpoints/endpoints.ts'
import type { WhyCode } from '../../contract/why/why.ts'
import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import { type PlacementHost, rankHosts } from '../../domain/host/placement.ts'
import { cheapestWorker, type EndpointWorld, endpointOptions, endpointTrial, limitOption } from '../../domain/why/endpoint-options.ts'
import { constraintFacts, type Fact } from '../../domain/why/evidence.ts'
import { type Holder, holderAdvice } from '../../domain/why/holders.ts'
import { type Means, meansOption, refuseMeans } from '../../domain/why/means.ts'
import { type Advice, ownOption } from '../../domain/why/option.ts'
import type { Fit, Found } from '../../domain/why/search.ts'
import { placementRequestOf } from '../../domain/worker/shape.ts'
import type { Env } from '../../env.ts'
import { loadCatalog } from '../catalog.ts'
import { readStoppablePods } from './holders.ts'
import { readMeans } from './means.ts'
import { readSnapshot } from './snapshot.ts'

/** What is known of the hosts and of the account, for a worker that is wanted. */
export interface EndpointKnown {
  world: EndpointWorld
  means: Means
  /** Pods of the account that may be stopped. */
  holders: readonly Holder[]
  asOfMs: number
}

/** Causes that more than the queue's own rows explain. */
const NEEDS_HOSTS: readonly WhyCode[] = [
  'NO_CAPACITY',
  'AT_WORKERS_MAX',
  'SCALED_TO_ZERO_BY_CONFIG',
  'LOW_PRIORITY',
  'SPEND_LIMIT',
  'QUOTA',
]

/** Whether a cause asks for a look at hosts and account. */
export function needsHosts(code: WhyCode): boolean {
  return NEEDS_HOSTS.includes(code)
}

/** Looks at hosts, catalog and account, in eleven statements at most. */
export async function lookForWorker(env: Env, config: EndpointConfig, nowMs: number): Promise<EndpointKnown> {
  const { teamId } = config
  const [{ hosts, atMs }, catalog, means, holders] = await Promise.all([
    readSnapshot(env),
    loadCatalog(env),
    readMeans(env, teamId, nowMs),
    readStoppablePods(env, teamId),
  ])
  return { world: { config, catalog, hosts }, means, holders, asOfMs: atMs }
}

/** What keeps the account from having one more worker, whatever room there is; null: nothing does. */
export function meansBlock({ world, means }: EndpointKnown) {
  return refuseMeans(means, needsOf(world, cheapestWorker(world) ?? 0))
}

/** What hosts lack for a worker (WHY-2). */
export function missingFacts({ world: { config, catalog, hosts } }: EndpointKnown): Fact[] {
  const { refusals } = rankHosts(placementRequestOf(catalog, config), hosts)
  return constraintFacts(refusals, hosts.length)
}

/** What would start a worker now (WHY-10). */
export function adviseEndpoint(known: EndpointKnown, code: WhyCode): Advice[] {
  const { world, means } = known
  const cheapest = cheapestWorker(world) ?? 0
  const needs = needsOf(world, cheapest)
  if (refuseMeans(means, needs)) {
    const option = meansOption(means, needs, cheapest)
    return option ? [{ option, hostIds: [], needs }] : []
  }
  const limit = limitOption(world, code)
  const found = code === 'NO_CAPACITY' ? endpointOptions(world) : limit ? [limit] : []
  // Another worker is added to what runs; another kind of worker comes in place of the one that is asked for.
  const asked = limit ? 0 : cheapest
  const stops = code === 'NO_CAPACITY' ? holderAdvice(known.holders, world.hosts, workerTrial(world), needs) : []
  return [...found.map((one) => toAdvice(world, one, asked)), ...stops].filter((advice) => refuseMeans(means, advice.needs) === null)
}

/** Whether a worker as it is configured fits on a host. */
function workerTrial(world: EndpointWorld): (host: PlacementHost) => Fit | null {
  return (host) => endpointTrial({ ...world, hosts: [host] })({})
}

function toAdvice(world: EndpointWorld, found: Found<UpdateEndpointRequest>, askedNanos: number): Advice {
  const call = { method: 'PATCH' as const, path: `/v2/serverless/${world.config.id}`, body: found.asked }
  const gpus = found.asked.gpu?.count ?? needsOf(world, 0).gpus
  return { option: ownOption(found, askedNanos, call), hostIds: found.hostIds, needs: { nanosPerHour: found.nanosPerHour, gpus, pods: 0 } }
}

function needsOf({ config: { compute } }: EndpointWorld, nanosPerHour: number) {
  return { nanosPerHour, gpus: compute.kind === 'gpu' ? compute.count : 0, pods: 0 }
}
