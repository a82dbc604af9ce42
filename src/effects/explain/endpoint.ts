import type { UpdateEndpointRequest } from '../../contract/endpoints/endpoints.ts'
import type { WhyCode } from '../../contract/explain/explain.ts'
import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import { cheapestWorker, type EndpointWorld, endpointOptions, endpointProbe, limitOption } from '../../domain/explain/endpoint-options.ts'
import { constraintFacts, type Fact } from '../../domain/explain/evidence.ts'
import { type Holder, holderAdvice } from '../../domain/explain/holders.ts'
import { type Means, meansOption, refuseMeans } from '../../domain/explain/means.ts'
import { type Advice, ownOption } from '../../domain/explain/option.ts'
import type { Fit, Found } from '../../domain/explain/search.ts'
import { type PlacementHost, rankHosts } from '../../domain/host/placement.ts'
import { placementRequestOf } from '../../domain/worker/shape.ts'
import type { Env } from '../../env.ts'
import { loadCatalog } from '../catalog.ts'
import { readStoppablePods } from './holders.ts'
import { readMeans } from './means.ts'
import { readSnapshot } from './snapshot.ts'

/** The hosts and the account as read for a worker that is to start. */
export interface EndpointKnown {
  world: EndpointWorld
  means: Means
  /** Pods of the account that may be stopped. */
  holders: readonly Holder[]
  asOfMs: number
}

/** Causes that need more than the queue's own rows to explain. */
const NEEDS_HOSTS: readonly WhyCode[] = [
  'NO_CAPACITY',
  'AT_WORKERS_MAX',
  'SCALED_TO_ZERO_BY_CONFIG',
  'LOW_PRIORITY',
  'SPEND_LIMIT',
  'QUOTA',
]

/** Whether the explanation of a cause needs the hosts and the account. */
export function needsHosts(code: WhyCode): boolean {
  return NEEDS_HOSTS.includes(code)
}

/** Reads hosts, catalog and account, in at most eleven statements. */
export async function readWorkerInputs(env: Env, config: EndpointConfig, nowMs: number): Promise<EndpointKnown> {
  const { teamId } = config
  const [{ hosts, atMs }, catalog, means, holders] = await Promise.all([
    readSnapshot(env, nowMs),
    loadCatalog(env),
    readMeans(env, teamId, nowMs),
    readStoppablePods(env, teamId, nowMs),
  ])
  return { world: { config, catalog, hosts }, means, holders, asOfMs: atMs }
}

/** Returns the limit that keeps the account from one more worker, whatever capacity is free; null: none does. */
export function meansBlock({ world, means }: EndpointKnown) {
  return refuseMeans(means, needsOf(world, cheapestWorker(world) ?? 0))
}

/** Returns what hosts lack for a worker (WHY-2). */
export function missingFacts({ world: { config, catalog, hosts } }: EndpointKnown): Fact[] {
  const { refusals } = rankHosts(placementRequestOf(catalog, config), hosts)
  return constraintFacts(refusals, hosts.length)
}

/** Returns the changes that would start a worker at present (WHY-10). */
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
  // A raised limit adds a worker to the running ones; another compute type replaces the requested one.
  const asked = limit ? 0 : cheapest
  const stops = code === 'NO_CAPACITY' ? holderAdvice(known.holders, world.hosts, workerProbe(world), needs) : []
  return [...found.map((one) => toAdvice(world, one, asked)), ...stops].filter((advice) => refuseMeans(means, advice.needs) === null)
}

/** Returns how a worker with its present configuration fits on a host; null: it does not. */
function workerProbe(world: EndpointWorld): (host: PlacementHost) => Fit | null {
  return (host) => endpointProbe({ ...world, hosts: [host] })({})
}

function toAdvice(world: EndpointWorld, found: Found<UpdateEndpointRequest>, askedNanos: number): Advice {
  const call = { method: 'PATCH' as const, path: `/v2/serverless/${world.config.id}`, body: found.asked }
  const gpus = found.asked.gpu?.count ?? needsOf(world, 0).gpus
  return { option: ownOption(found, askedNanos, call), hostIds: found.hostIds, needs: { nanosPerHour: found.nanosPerHour, gpus, pods: 0 } }
}

function needsOf({ config: { compute } }: EndpointWorld, nanosPerHour: number) {
  return { nanosPerHour, gpus: compute.kind === 'gpu' ? compute.count : 0, pods: 0 }
}
