import type { CreateClusterRequest } from '../../contract/clusters/clusters.ts'
import type { WhyOptionKind } from '../../contract/explain-options.ts'
import type { CreatePodRequest } from '../../contract/pods/pods.ts'
import { type Gang, placeGang } from '../cluster/gang.ts'
import { memberRequest, memberSpec } from '../cluster/request.ts'
import { runningNanos } from '../pod/rates.ts'
import { type PlanResult, planPod } from '../pod/request/request.ts'
import { openHosts } from './hosts.ts'
import { podLadders } from './pod-changes.ts'
import type { PodWorld } from './pod-options.ts'
import { type Found, type Ladder, type Probe, searchOptions } from './search.ts'

/** Changed requests for a cluster whose members all fit at present (WHY-12). Pure. */

type Body = CreateClusterRequest

/** A gang is placed member by member, so fewer requests are tried than for a pod. */
const MAX_CLUSTER_PROBES = 60
/** Kinds of changes to a member that a cluster request supports. */
const KINDS: readonly WhyOptionKind[] = ['GPU_TYPE', 'GPU_COUNT', 'DATA_CENTER', 'DISK', 'VOLUME']
/** Minimum number of members in a request. */
const MIN_MEMBERS = 2

/** Smallest changes of a create whose members do not fit together. */
export function clusterOptions(given: PodWorld, body: Body, gang: Extract<Gang, { ok: false }>): Found<Body>[] {
  const world = { ...given, hosts: openHosts(given.teamId, given.hosts) }
  const planned = plan(world, body)
  if (!planned.ok) return []
  const ofMembers = podLadders(planned.plan.spec, world.catalog, world.hosts).filter(({ kind }) => KINDS.includes(kind))
  return searchOptions(body, [...members(gang), ...ofMembers.map(lifted)], clusterProbe(world), MAX_CLUSTER_PROBES)
}

/** Trial of a create: whether it would be accepted and all its members placed, by the rules that plan and place clusters. */
export function clusterProbe(world: PodWorld): Probe<Body> {
  return (body) => {
    const planned = plan(world, body)
    if (!planned.ok) return null
    const { pricePerHour, diskRates } = planned.plan
    const { podCount } = body.compute
    const gang = placeGang(world.teamId, memberSpec(planned.plan.spec, body), podCount, world.hosts, world.strategy)
    if (!gang.ok) return null
    const hostIds = [...new Set(gang.seats.map(({ hostId }) => hostId))]
    return { nanosPerHour: podCount * runningNanos({ pricePerHour, ...diskRates }), hostIds }
  }
}

/** Change to as many members as the nearest data center has room for. */
function members({ nearest }: Extract<Gang, { ok: false }>): Ladder<Body>[] {
  const podCount = nearest?.members ?? 0
  if (podCount < MIN_MEMBERS) return []
  const summary = `take ${podCount} members`
  return [{ kind: 'POD_COUNT', rungs: [{ summary, apply: (body) => ({ ...body, compute: { ...body.compute, podCount } }) }] }]
}

/** Applies the changes of one member's request to all members of a cluster. */
function lifted({ kind, rungs }: Ladder<CreatePodRequest>): Ladder<Body> {
  return {
    kind,
    rungs: rungs.map(({ summary, apply }) => ({ summary, apply: (body: Body) => ofMembers(body, apply(memberRequest(body))) })),
  }
}

function ofMembers(body: Body, { gpu, dataCenterIds, disk, mounts }: CreatePodRequest): Body {
  const { compute } = body
  return {
    ...body,
    compute: { ...compute, gpuTypeId: gpu?.id ?? compute.gpuTypeId, gpuCountPerPod: gpu?.count ?? compute.gpuCountPerPod },
    ...(dataCenterIds && { dataCenterIds }),
    ...(disk !== undefined && { disk }),
    ...(mounts && { mounts: { ...body.mounts, ...(mounts.persistent && { persistent: mounts.persistent }) } }),
  }
}

function plan({ catalog, references, nowMs }: PodWorld, body: Body): PlanResult {
  return planPod(catalog, memberRequest(body), references, 'jupyter', nowMs)
}
