import type { EndpointImpact } from '../../domain/endpoint/impact.ts'
import { type OwnEndpoint, ownEndpoints, ownPods } from '../../objects/ownership/own.ts'
import { endpointStub } from '../../objects/stubs.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import { logEvent } from '../../platform/log.ts'
import type { VerbContext } from '../context.ts'
import { readLivePods, silencesOf } from '../pods/live-pods.ts'

/** Maximum number of pods whose idle time is read, as one page. */
const MAX_PODS = 1_000
/** Maximum number of endpoints that are asked, with one call each. */
const MAX_ENDPOINTS = 200

/** By pod: since when it has been idle, and since when its host has been silent. */
interface PodActivity {
  idleSinceMs: Map<string, number>
  silentSinceMs: Map<string, number>
}

/** Resources whose pods or workers are checked. */
type Asked = readonly { kind: string; id: string }[]

/**
 * Returns since when pods and workers have been idle, by workload id, in two statements: pods and cluster members as reported by their
 * hosts (HIS-8), workers as known to their queue (SPD-7). Workloads in an unknown state are left out.
 */
export async function readIdle(ctx: VerbContext, things: Asked): Promise<Map<string, number>> {
  const [pods, workers] = await Promise.all([readPodActivity(ctx, things), readIdleWorkers(ctx, things)])
  return new Map([...pods.idleSinceMs, ...workers])
}

/** Returns the idle pods, cluster members included, and the pods on silent hosts, in one statement (BIL-30). */
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

/** Returns the idle workers of these endpoints, and since when. */
export async function readIdleWorkers(ctx: VerbContext, things: Asked): Promise<[string, number][]> {
  const ids = things.filter(({ kind }) => kind === 'ENDPOINT').map(({ id }) => id)
  if (ids.length === 0) return []
  const endpoints = await ownEndpoints(ctx.env, ctx.principal, ids.slice(0, MAX_ENDPOINTS))
  const impacts = await mapAtOnce(endpoints, (endpoint) => readImpact(ctx, endpoint))
  return impacts.flatMap((impact) => idleWorkers(impact))
}

/** Returns the idle workers of one endpoint, and since when. */
export function idleWorkers(impact: EndpointImpact | null): [string, number][] {
  return (impact?.workers ?? []).flatMap(({ id, idleSinceMs }) => (idleSinceMs === null ? [] : [[id, idleSinceMs]]))
}

// An endpoint that does not answer counts as having no idle workers and does not block the others.
async function readImpact({ env }: VerbContext, endpoint: OwnEndpoint): Promise<EndpointImpact | null> {
  try {
    return await endpointStub(env, endpoint).impact()
  } catch (error) {
    logEvent('warn', 'an endpoint could not be asked for its workers', { endpointId: endpoint.id, error })
    return null
  }
}
