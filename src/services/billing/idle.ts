import type { EndpointStake } from '../../domain/endpoint/stake.ts'
import { type OwnEndpoint, ownEndpoints, ownPods } from '../../objects/ownership/own.ts'
import { endpointStub } from '../../objects/stubs.ts'
import { logEvent } from '../../platform/log.ts'
import type { VerbContext } from '../context.ts'
import { readLivePods } from '../pods/live-pods.ts'

/** Pods that are asked whether they do nothing; one page of them. */
const MAX_PODS = 1_000
/** Endpoints that are asked, each with a call of its own. */
const MAX_ENDPOINTS = 200

/** Things whose pods or workers are asked about. */
type Asked = readonly { kind: string; id: string }[]

/**
 * Since when pods and workers do nothing, by the id of their workload, in two statements: pods and members of clusters as their hosts have seen it
 * (HIS-8), workers as their queue knows it (SPD-7). Of whom nothing is known is left out.
 */
export async function readIdle(ctx: VerbContext, things: Asked): Promise<Map<string, number>> {
  const of = (kind: string) => things.filter((thing) => thing.kind === kind).map(({ id }) => id)
  const [pods, workers] = await Promise.all([
    readIdlePods(ctx, new Set([...of('POD'), ...of('CLUSTER')])),
    readIdleWorkers(ctx, of('ENDPOINT')),
  ])
  return new Map([...pods, ...workers])
}

async function readIdlePods(ctx: VerbContext, ids: ReadonlySet<string>): Promise<[string, number][]> {
  if (ids.size === 0) return []
  const { pods } = await ownPods(ctx.env, ctx.principal, null, MAX_PODS)
  const asked = pods.filter(({ id, row }) => ids.has(row.clusterId ?? id))
  const live = await readLivePods(ctx.env, asked)
  return [...live].flatMap(([id, { idleSinceMs }]) => (idleSinceMs === null ? [] : [[id, idleSinceMs]]))
}

async function readIdleWorkers(ctx: VerbContext, ids: readonly string[]): Promise<[string, number][]> {
  if (ids.length === 0) return []
  const endpoints = await ownEndpoints(ctx.env, ctx.principal, ids.slice(0, MAX_ENDPOINTS))
  const stakes = await Promise.all(endpoints.map((endpoint) => readStake(ctx, endpoint)))
  return stakes.flatMap((stake) => idleWorkers(stake))
}

/** Its workers that do nothing, and since when. */
export function idleWorkers(stake: EndpointStake | null): [string, number][] {
  return (stake?.workers ?? []).flatMap(({ id, idleSinceMs }) => (idleSinceMs === null ? [] : [[id, idleSinceMs]]))
}

// One that does not answer holds up no other: of its workers nothing is known.
async function readStake({ env }: VerbContext, endpoint: OwnEndpoint): Promise<EndpointStake | null> {
  try {
    return await endpointStub(env, endpoint).stake()
  } catch (error) {
    logEvent('warn', 'an endpoint could not be asked for its workers', { endpointId: endpoint.id, error })
    return null
  }
}
