import type { EndpointStake } from '../../domain/endpoint/stake.ts'
import { type OwnEndpoint, ownEndpoints, ownPods } from '../../objects/ownership/own.ts'
import { endpointStub } from '../../objects/stubs.ts'
import { logEvent } from '../../platform/log.ts'
import type { VerbContext } from '../context.ts'
import { readLivePods, silencesOf } from '../pods/live-pods.ts'

/** Pods that are asked whether they do nothing; one page of them. */
const MAX_PODS = 1_000
/** Endpoints that are asked, each with a call of its own. */
const MAX_ENDPOINTS = 200

/** By pod: since when it does nothing, and since when its host has not been heard of. */
interface PodActivity {
  idleSinceMs: Map<string, number>
  silentSinceMs: Map<string, number>
}

/** Things whose pods or workers are asked about. */
type Asked = readonly { kind: string; id: string }[]

/**
 * Since when pods and workers do nothing, by the id of their workload, in two statements: pods and members of clusters as their hosts have seen it
 * (HIS-8), workers as their queue knows it (SPD-7). Of whom nothing is known is left out.
 */
export async function readIdle(ctx: VerbContext, things: Asked): Promise<Map<string, number>> {
  const [pods, workers] = await Promise.all([readPodActivity(ctx, things), readIdleWorkers(ctx, things)])
  return new Map([...pods.idleSinceMs, ...workers])
}

/** What hosts say of the pods of such things, members of clusters too, in one statement: who does nothing, and who is not heard of (BIL-30). */
export async function readPodActivity(ctx: VerbContext, things: Asked): Promise<PodActivity> {
  const ids = new Set(things.filter(({ kind }) => kind === 'POD' || kind === 'CLUSTER').map(({ id }) => id))
  if (ids.size === 0) return { idleSinceMs: new Map(), silentSinceMs: new Map() }
  const { pods } = await ownPods(ctx.env, ctx.principal, null, MAX_PODS)
  const asked = pods.filter(({ id, row }) => ids.has(row.clusterId ?? id))
  const live = [...(await readLivePods(ctx.env, asked))]
  return {
    idleSinceMs: new Map(live.flatMap(([id, { idleSinceMs }]) => (idleSinceMs === null ? [] : [[id, idleSinceMs]]))),
    silentSinceMs: silencesOf(live),
  }
}

/** Workers that do nothing, and since when. */
export async function readIdleWorkers(ctx: VerbContext, things: Asked): Promise<[string, number][]> {
  const ids = things.filter(({ kind }) => kind === 'ENDPOINT').map(({ id }) => id)
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
