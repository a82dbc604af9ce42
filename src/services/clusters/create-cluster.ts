import type { Cluster, ClusterPlacementPreview, CreateClusterRequest } from '../../contract/clusters/clusters.ts'
import { CLUSTER_DEFAULTS } from '../../contract/defaults.ts'
import { Problem, problemOf } from '../../contract/problems.ts'
import { openDatabase } from '../../db/client.ts'
import { sealMungeKey } from '../../db/clusters/munge-key.ts'
import { requireReferences } from '../../db/pods/pod-references.ts'
import { specBytes } from '../../db/pods/pods.ts'
import { inClusterBody, memberName, memberRequest, memberSpec, refuseCluster, refuseGang } from '../../domain/cluster/request.ts'
import { describeConstraint } from '../../domain/host/constraint-text.ts'
import { shownPrice } from '../../domain/pod/access.ts'
import { runningNanos } from '../../domain/pod/rates.ts'
import { type PodPlan, type PodReferences, planPod, refuseCreate } from '../../domain/pod/request/request.ts'
import { loadCatalog } from '../../effects/catalog.ts'
import { type ClusterDraft, type ClusterPlacement, hostsOfGang, placeCluster, rankGang } from '../../effects/clusters/place-cluster.ts'
import { opaqueHostId } from '../../effects/explain-placement.ts'
import type { PodDraft } from '../../effects/pods/place-pod.ts'
import { newJupyterPassword, newMungeKey, newResourceId, newSshSuffix } from '../../platform/ids.ts'
import { vaultOf } from '../../platform/seal.ts'
import { noteChange } from '../audit.ts'
import { requireSpend } from '../billing/spend.ts'
import { requireBudget } from '../budgets.ts'
import type { VerbContext } from '../context.ts'
import { onceForKey, type StoreAnswer } from '../idempotency.ts'
import { draftPodOf } from '../pods/draft-pod.ts'
import { loadReferences, REFERENCE_NAMES } from '../pods/pod-references.ts'
import { refuseLimit } from '../refuse-limit.ts'
import { requireScope } from '../require-scope.ts'
import { claimRegistry, requireRegistry } from '../resources/registries.ts'
import { granted } from '../resources/secret-grants.ts'
import { requireTemplateScope } from '../resources/templates.ts'
import { newCluster } from './cluster-view.ts'
import { nearestClusters } from './nearest-cluster.ts'

const OPERATION = 'createCluster'
/** Maximum number of hosts in a dry run. */
const MAX_HOSTS_SHOWN = 100

/**
 * Creates a cluster with all members in one data center, or none of them (CLU-1 to CLU-11). Throws 400 (also when no data center has room
 * for all), 402, 403, 404 (template), 409 (its key is in use), 413 and 422.
 */
export async function createCluster(ctx: VerbContext, body: CreateClusterRequest, idempotencyKey: string | undefined): Promise<Cluster> {
  requireScope(ctx.principal, 'clusters:write')
  await requireTemplateScope(ctx, body.templateId)
  return onceForKey<Cluster>(ctx, OPERATION, idempotencyKey, body, (store) => place(ctx, body, store))
}

/**
 * Returns where a cluster would be placed at present and its cost, or what is missing; writes nothing (CLU-12). Throws the errors of the
 * create.
 */
export async function previewCluster(ctx: VerbContext, body: CreateClusterRequest): Promise<ClusterPlacementPreview> {
  requireScope(ctx.principal, 'clusters:write')
  await requireTemplateScope(ctx, body.templateId)
  const { plan, references } = await planOrThrow(ctx, body)
  const { podCount } = body.compute
  const { teamId } = ctx.principal
  const nanosPerHour = nanosOf(plan, podCount)
  await requireSpend(ctx, nanosPerHour)
  const { gang, missingVolumes, hosts: checked } = await rankGang(ctx.env, { teamId, spec: plan.spec, podCount })
  const hosts = hostsOfGang(gang).slice(0, MAX_HOSTS_SHOWN)
  return {
    fits: gang.ok,
    dataCenterId: gang.ok ? gang.dataCenterId : null,
    cost: shownPrice(plan.pricePerHour * podCount),
    missing: gang.ok ? [] : [...(refuseGang(gang, podCount, missingVolumes).errors ?? [])],
    // Bounded: hashes of `MAX_HOSTS_SHOWN` names, without calls.
    hosts: await Promise.all(
      hosts.map(async ({ hostId, members, failed }) => ({
        hostId: await opaqueHostId(ctx.env, teamId, hostId),
        members,
        failed: failed.map(describeConstraint),
      })),
    ),
    options: gang.ok ? [] : await nearestClusters(ctx, { body, references, hosts: checked, nanosPerHour, gang }),
  }
}

async function place(ctx: VerbContext, body: CreateClusterRequest, store: StoreAnswer<Cluster>): Promise<Cluster> {
  const { plan } = await planOrThrow(ctx, body)
  await claimRegistry(ctx, plan.spec.container)
  const { podCount } = body.compute
  // ERR-6: this check comes before placement.
  await requireSpend(ctx, nanosOf(plan, podCount))
  const draft = draftOf(ctx, body, plan)
  const db = openDatabase(ctx.env.DB)
  const placed = await placeCluster(ctx.env, draft, (cluster, members) => [
    noteCreate(ctx, body, cluster.id, cluster.dataCenterId),
    ...store(newCluster(cluster, members)),
    // All members have the same references, so one statement covers them.
    ...members.slice(0, 1).flatMap((member) => requireReferences(db, member)),
  ])
  return placed.ok ? newCluster(placed.cluster, placed.members) : refuse(ctx, body, { plan, draft }, placed)
}

/** Throws the error of a cluster that was not stored, by the reason that its batch gave. */
async function refuse(
  ctx: VerbContext,
  body: CreateClusterRequest,
  { plan, draft }: { plan: PodPlan; draft: Pick<PodDraft, 'spec'> },
  { reason, gang, missingVolumes }: Extract<ClusterPlacement, { ok: false }>,
): Promise<never> {
  const { podCount } = body.compute
  switch (reason) {
    case null:
      throw problemOf(refuseGang(gang.ok ? { ok: false, refusals: [], nearest: null } : gang, podCount, missingVolumes))
    case 'network':
      throw new Problem('conflict', { detail: 'no private network is free for another cluster; retry' })
    case 'networkVolume':
    case 'globalVolume':
    case 'registry':
      // It was deleted meanwhile; this second plan refuses it with the field that names it.
      await planOrThrow(ctx, body)
      throw new Problem('conflict', { detail: `the ${REFERENCE_NAMES[reason]} that the cluster refers to is being changed; retry` })
    default:
      return refuseLimit(ctx, reason, { ...budgetOf(body), specBytesPerHost: specBytes(draft), nanosPerHour: nanosOf(plan, podCount) })
  }
}

function noteCreate(ctx: VerbContext, body: CreateClusterRequest, resourceId: string, dataCenter: string) {
  const { name, type, compute, image, templateId, onHostLoss } = body
  const after = {
    name,
    type,
    compute,
    dataCenter,
    onHostLoss: onHostLoss ?? CLUSTER_DEFAULTS.onHostLoss,
    image,
    template: templateId ?? null,
  }
  return noteChange(ctx, { action: 'clusters.create', resourceKind: 'cluster', resourceId, before: null, after })
}

/** Returns the plan of one member. */
async function planOrThrow(ctx: VerbContext, body: CreateClusterRequest): Promise<{ plan: PodPlan; references: PodReferences }> {
  const { env, principal } = ctx
  const request = memberRequest(body)
  const problem = refuseCluster(body) ?? refuseCreate(request)
  if (problem) throw problemOf(problem)
  const [references, catalog] = await Promise.all([
    loadReferences(env, principal, request),
    loadCatalog(env),
    requireBudget(env, principal.teamId, budgetOf(body)),
  ])
  // A cluster takes its mounts from the body only.
  const template = references.template && { ...references.template, persistent: null }
  const known = { ...references, template }
  const result = planPod(catalog, request, known, newJupyterPassword(), ctx.nowMs)
  if (!result.ok) throw problemOf(inClusterBody(result.problem))
  const { spec } = result.plan
  const container = granted(principal, spec.container)
  await requireRegistry(ctx, container)
  return { plan: { ...result.plan, spec: memberSpec({ ...spec, container }, body) }, references: known }
}

function budgetOf({ compute: { podCount, gpuCountPerPod } }: CreateClusterRequest) {
  return { clusters: 1, pods: podCount, gpus: podCount * gpuCountPerPod }
}

function nanosOf(plan: PodPlan, podCount: number): number {
  return podCount * runningNanos({ pricePerHour: plan.pricePerHour, ...plan.diskRates })
}

function draftOf(ctx: VerbContext, body: CreateClusterRequest, plan: PodPlan): ClusterDraft & Pick<PodDraft, 'spec'> {
  const id = newResourceId()
  const { name, type, compute, onHostLoss } = body
  const { gpuTypeId, gpuCountPerPod, podCount } = compute
  const cluster = {
    id,
    teamId: ctx.principal.teamId,
    name,
    type,
    gpuTypeId,
    gpuCountPerPod,
    podCount,
    templateId: plan.templateId,
    onHostLoss: onHostLoss ?? CLUSTER_DEFAULTS.onHostLoss,
    sealedSecret: type === 'SLURM' ? sealMungeKey(vaultOf(ctx.env), id, newMungeKey()) : null,
    version: 1,
    createdAtMs: ctx.nowMs,
    deletedAtMs: null,
  }
  const memberOf = (rank: number): PodDraft => ({
    ...draftPodOf(ctx, { id: newResourceId(), sshSuffix: newSshSuffix(), name: memberName(name, rank) }, plan),
    clusterId: id,
    clusterRank: rank,
    readyGeneration: 0,
    triedHosts: [],
  })
  return { cluster, spec: plan.spec, memberOf }
}
