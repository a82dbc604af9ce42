import type { PodExplanation, Why } from '../../contract/explain/explain.ts'
import type { PodRow } from '../../db/pods/pods.ts'
import { fact } from '../../domain/explain/evidence.ts'
import { type Holder, holderAdvice } from '../../domain/explain/holders.ts'
import { type Means, meansOption, refuseMeans } from '../../domain/explain/means.ts'
import { type Advice, operatorOption, ownOption } from '../../domain/explain/option.ts'
import { explainPod, missedStart, type StartBlock, startMisses } from '../../domain/explain/pod.ts'
import { bodyOf, type PodWorld, podOptions, podProbe, referencesOf } from '../../domain/explain/pod-options.ts'
import type { PlacementHost } from '../../domain/host/placement.ts'
import { TO_RUN } from '../../domain/pod/pod.ts'
import { runningNanos, startNanos } from '../../domain/pod/rates.ts'
import { loadCatalog } from '../../effects/catalog.ts'
import { answerExplain } from '../../effects/explain/answer.ts'
import { readHolders } from '../../effects/explain/holders.ts'
import { readMeans } from '../../effects/explain/means.ts'
import { cachedExplanation, type Snapshot } from '../../effects/explain/memory.ts'
import { readSnapshot } from '../../effects/explain/snapshot.ts'
import { readSettings } from '../../env.ts'
import { type OwnPod, own } from '../../objects/ownership/own.ts'
import type { VerbContext } from '../context.ts'
import { requireScope } from '../require-scope.ts'
import { readLivePods } from './live-pods.ts'

/** Inputs of the explanation of a stopped pod. */
interface Known {
  snapshot: Snapshot
  means: Means
  world: PodWorld
  holders: readonly Holder[]
}

/** Returns the explanation of a pod's state, with options that would start it (WHY-1 to WHY-6). Throws 403 and 404. */
export async function explainOwnPod(ctx: VerbContext, id: string): Promise<PodExplanation> {
  requireScope(ctx.principal, 'pods:read', id)
  const pod = await own(ctx.env, ctx.principal, 'pod', id)
  const { row } = pod
  const isToRun = TO_RUN.includes(row.status)
  const why = await (isToRun
    ? explainLive(ctx, pod)
    : cachedExplanation(`pod ${id} ${row.version}`, ctx.nowMs, () => explainStopped(ctx, row)))
  return { id, status: row.status, ...why }
}

async function explainLive({ env, nowMs }: VerbContext, pod: OwnPod): Promise<Why> {
  const silentSinceMs = (await readLivePods(env, [pod])).get(pod.id)?.silentSinceMs ?? null
  const verdict = explainPod(pod.row, { silentSinceMs, block: null })
  return answerExplain(env, verdict, [], { nowMs, isStale: silentSinceMs !== null })
}

async function explainStopped(ctx: VerbContext, row: PodRow): Promise<Why> {
  const known = await check(ctx, row)
  const block = findBlock(row, known)
  const verdict = explainPod(row, { silentSinceMs: null, block })
  // A member of a cluster has no actions of its own (POD-16).
  const advice = row.clusterId === null ? advise(row, block, known) : []
  return answerExplain(ctx.env, verdict, advice, { nowMs: ctx.nowMs, asOfMs: known.snapshot.atMs })
}

async function check({ env, nowMs }: VerbContext, row: PodRow): Promise<Known> {
  const [snapshot, means, catalog, holders] = await Promise.all([
    readSnapshot(env, nowMs),
    readMeans(env, row.teamId, nowMs),
    loadCatalog(env),
    readHolders(env, row.teamId, nowMs),
  ])
  const references = referencesOf(row.spec, row.dataCenterId)
  const world = { teamId: row.teamId, catalog, hosts: snapshot.hosts, references, strategy: readSettings(env).placementStrategy, nowMs }
  return { snapshot, means, world, holders }
}

function findBlock(row: PodRow, { snapshot, means }: Known): StartBlock | null {
  const host = snapshot.hosts.find(({ id }) => id === row.hostId)
  const missed = missedStart(row, host)
  if (missed) return missed
  const refused = refuseMeans(means, startNeeds(row))
  return refused && { ...refused, facts: [fact('LIMIT', refused.text)] }
}

function startNeeds(row: PodRow) {
  return { nanosPerHour: startNanos(row), gpus: gpusOf(row), pods: 0 }
}

function gpusOf({ spec: { compute } }: Pick<PodRow, 'spec'>): number {
  return compute.kind === 'gpu' ? compute.count : 0
}

/** Returns the options that would start the pod: a start on its own host, an action of the operator, or a similar pod elsewhere. */
function advise(row: PodRow, block: StartBlock | null, known: Known): Advice[] {
  const nanos = runningNanos(row)
  if (block?.code === 'SPEND_LIMIT' || block?.code === 'QUOTA') {
    const option = meansOption(known.means, startNeeds(row), nanos)
    return option ? [{ option, hostIds: [row.hostId], needs: { nanosPerHour: 0, gpus: 0, pods: 0 } }] : []
  }
  if (!block && !row.hostLost) {
    const call = { method: 'POST' as const, path: `/v2/pods/${row.id}/action`, body: { action: 'start' } }
    const option = ownOption({ kind: 'START', summary: 'start it', nanosPerHour: nanos }, nanos, call)
    return [{ option, hostIds: [row.hostId], needs: startNeeds(row) }]
  }
  return [...uncordon(row, known), ...makeRoom(row, known), ...elsewhere(row, known)].filter(
    ({ needs }) => refuseMeans(known.means, needs) === null,
  )
}

function uncordon(row: PodRow, { snapshot }: Known): Advice[] {
  const host = snapshot.hosts.find(({ id }) => id === row.hostId)
  if (!host?.cordoned || startMisses(row, { ...host, cordoned: false }).length > 0) return []
  const option = operatorOption('UNCORDON', 'ask the operator to uncordon its machine', runningNanos(row))
  return [{ option, hostIds: [row.hostId], needs: startNeeds(row) }]
}

/** Returns the options that free capacity used by the account on the pod's own host, where its disks are. */
function makeRoom(row: PodRow, { snapshot, holders }: Known): Advice[] {
  const nanosPerHour = runningNanos(row)
  const fits = (host: PlacementHost) => (startMisses(row, host).length === 0 ? { nanosPerHour, hostIds: [host.id] } : null)
  const here = holders.filter(({ hostId }) => hostId === row.hostId)
  return holderAdvice(here, snapshot.hosts, fits, { ...startNeeds(row), nanosPerHour })
}

function elsewhere(row: PodRow, { world }: Known): Advice[] {
  const nanos = runningNanos(row)
  const body = bodyOf(row.name, row.spec)
  const fit = podProbe(world)(body)
  const found = fit ? [{ ...fit, kind: 'RECREATE' as const, summary: RECREATE, asked: body }] : podOptions(world, body)
  return found.map(({ asked, hostIds, ...one }) => ({
    option: ownOption(fit ? one : { ...one, summary: `${RECREATE}: ${one.summary}` }, nanos, {
      method: 'POST',
      path: '/v2/pods',
      body: asked,
    }),
    hostIds,
    needs: { nanosPerHour: one.nanosPerHour, gpus: asked.gpu ? (asked.gpu.count ?? 1) : 0, pods: 1 },
  }))
}

const RECREATE = 'create an equal pod on another machine, without the data on the disks of this pod'
