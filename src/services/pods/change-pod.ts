import type { PodAction } from '../../contract/enums.ts'
import type { UpdatePodRequest } from '../../contract/pods/pods.ts'
import { Problem, problemOf } from '../../contract/problems.ts'
import { openDatabase } from '../../db/client.ts'
import { listHeldCapacity } from '../../db/hosts/held-capacity.ts'
import { findHostState } from '../../db/hosts/host-views.ts'
import { findPlacementHost } from '../../db/hosts/placement-hosts.ts'
import { readPodCapacity } from '../../db/hosts/pod-capacity.ts'
import { isAddressTaken } from '../../db/overlays/account-overlay.ts'
import type { PlaceRefusal, PodRow } from '../../db/pods/pods.ts'
import { podCapability } from '../../domain/access.ts'
import { withDiskRates } from '../../domain/pod/disk-charge.ts'
import { withGpuCount } from '../../domain/pod/place/gpu-count.ts'
import { podDiskGb } from '../../domain/pod/place/placement.ts'
import { refuseStart } from '../../domain/pod/place/refusal.ts'
import { decideAction, decideRecreate, decideReset, isToRun, type PodChange } from '../../domain/pod/pod.ts'
import { growthNanos, podDiskRates, startNanos } from '../../domain/pod/rates.ts'
import { CLUSTER_MEMBER, planPatch } from '../../domain/pod/request/patch.ts'
import { matchesVersion } from '../../domain/text/etag.ts'
import { loadCatalog } from '../../effects/catalog.ts'
import { transitPod } from '../../effects/pods/pod-transitions.ts'
import { type OwnPod, own } from '../../objects/ownership/own.ts'
import { causeOf } from '../audit.ts'
import { requireSpend } from '../billing/spend.ts'
import { requireBudget } from '../budgets.ts'
import type { VerbContext } from '../context.ts'
import { dropPodKey } from '../credentials/key-callers.ts'
import { decideAgain } from '../decide-again.ts'
import { refuseLimit } from '../refuse-limit.ts'
import { requireScope } from '../require-scope.ts'
import { claimRegistry, requireRegistryScope } from '../resources/registries.ts'
import { granted } from '../resources/secret-grants.ts'
import { globalIpAfter } from './global-address.ts'
import { loadPatchReferences } from './pod-references.ts'
import { showPod, type TaggedPod } from './pods.ts'

/**
 * Runs an action on a pod (POD-14 to POD-18). Returns null after `terminate`. `gpuCount`: the number of GPUs for `start` (GQL-37). Throws
 * 400 (its host has no room or cannot be reached), 403, 404, 409 (not valid in this state, locked, of a cluster) and 412.
 */
export async function actOnPod(
  ctx: VerbContext,
  id: string,
  action: PodAction,
  ifMatch: string | undefined,
  gpuCount?: number,
): Promise<TaggedPod | null> {
  const pod = await change(ctx, id, ifMatch, action, (before) => decideFor(ctx, before, action, gpuCount))
  if (action !== 'terminate') return showPod(ctx, pod)
  await dropPodKey(ctx.env, id)
  return null
}

/** Returns the pod's change by an action; throws its refusals. */
export async function decideFor(ctx: VerbContext, before: PodRow, action: PodAction, gpuCount?: number): Promise<PodChange<PodRow>> {
  if (before.clusterId !== null) throw problemOf(CLUSTER_MEMBER)
  const outcome = decideAction(before, action, ctx.nowMs)
  if (!outcome.ok) throw new Problem('conflict', { detail: outcome.detail, ...(outcome.locked && { code: 'LOCKED' }) })
  if (action === 'start') return decideStart(ctx, before, outcome.change, gpuCount)
  return action === 'terminate' ? withoutContents(outcome.change) : outcome.change
}

async function decideStart(ctx: VerbContext, before: PodRow, { pod, usage }: PodChange<PodRow>, gpuCount: number | undefined) {
  await requireHost(ctx, before)
  const { spec, pricePerHour, vcpus, memoryMb } = await countedForStart(ctx, before, gpuCount)
  const started = { ...pod, spec, pricePerHour, vcpus, memoryMb }
  await requireSpend(ctx, startNanos(started))
  return { pod: started, usage }
}

/** Runs `reset` of API v1 (LEG-6). Throws the errors of `actOnPod`. */
export async function resetPod(ctx: VerbContext, id: string): Promise<TaggedPod> {
  const pod = await change(ctx, id, undefined, 'reset', async (before) => {
    if (before.clusterId !== null) throw problemOf(CLUSTER_MEMBER)
    const outcome = decideReset(before, ctx.nowMs)
    if (!outcome.ok) throw new Problem('conflict', { detail: outcome.detail, ...(outcome.locked && { code: 'LOCKED' }) })
    if (!isToRun(before)) await requireHost(ctx, before)
    return outcome.change
  })
  return showPod(ctx, pod)
}

/** Removes the user's contents from a terminated pod for its audit row; `retainedPod` removes them from its stored row (POD-76). */
function withoutContents({ pod, usage }: PodChange<PodRow>): PodChange<PodRow> {
  const { accessEnv: _accessEnv, ...spec } = pod.spec
  return { pod: { ...pod, spec: { ...spec, container: { ...spec.container, args: '', env: {} } } }, usage }
}

/** Changes a pod in place (POD-13, MNT-4). Throws 400, 402, 403, 404, 409, 412, 413 and 422. */
export async function updatePod(ctx: VerbContext, id: string, body: UpdatePodRequest, ifMatch: string | undefined): Promise<TaggedPod> {
  requirePatchScope(ctx, body)
  return showPod(ctx, await change(ctx, id, ifMatch, 'update', (before) => decideUpdate(ctx, before, body, PROVIDED)))
}

/** Functions that reserve what a PATCH needs before it is written, or only check it for a dry run. */
export interface PatchNeeds {
  registry: typeof claimRegistry
  globalIp: typeof globalIpAfter
}
const PROVIDED: PatchNeeds = { registry: claimRegistry, globalIp: globalIpAfter }

/** Returns the pod's change by a PATCH, null when nothing changes; throws its refusals. */
export async function decideUpdate(
  ctx: VerbContext,
  before: PodRow,
  body: UpdatePodRequest,
  needs: PatchNeeds,
): Promise<PodChange<PodRow> | null> {
  const { name, locked, spec, clusterId, stopAfterMs, terminateAfterMs, labels } = before
  const references = await loadPatchReferences(ctx.env, ctx.principal, body)
  const plan = planPatch({ name, locked, spec, clusterId, stopAfterMs, terminateAfterMs, labels }, body, references, ctx.nowMs)
  if (!plan.ok) throw problemOf(plan.problem)
  if (!plan.isChanged) return null
  const container = granted(ctx.principal, plan.pod.spec.container, spec.container.secretGrants)
  if (namesImage(body)) await needs.registry(ctx, container)
  const globalIp = await needs.globalIp(ctx, before, plan.pod.spec.globalNetworking)
  const after: PodRow = { ...before, ...plan.pod, spec: { ...plan.pod.spec, container }, globalIp, registryId: container.registry }
  const change = plan.needsNewContainer ? decideRecreate(after, ctx.nowMs) : { pod: { ...after, version: before.version + 1 }, usage: null }
  const charged = withDiskRates(before, change, await diskRatesOf(ctx, before, after), ctx.nowMs)
  await requireSpend(ctx, growthNanos(before, charged.pod, isToRun(charged.pod)))
  return charged
}

/** Disks of another size are charged at present prices, others as before (BIL-7). */
async function diskRatesOf({ env }: VerbContext, before: PodRow, { spec }: PodRow) {
  const { diskNanosPerHour, stoppedDiskNanosPerHour } = before
  const isSame =
    spec.container.diskGb === before.spec.container.diskGb && spec.mounts.persistent?.sizeGb === before.spec.mounts.persistent?.sizeGb
  return isSame ? { diskNanosPerHour, stoppedDiskNanosPerHour } : podDiskRates((await loadCatalog(env)).storage, spec)
}

/**
 * A pod's own key may not change any field of its pod (AUT-6): an intruder in the container could extend the rights that the owner gave it.
 */
export function requirePatchScope(ctx: VerbContext, body: UpdatePodRequest): void {
  requireScope(ctx.principal, 'pods:write')
  requireRegistryScope(ctx, body.registry)
}

function namesImage({ image, registry, templateId }: UpdatePodRequest): boolean {
  return image !== undefined || registry !== undefined || templateId !== undefined
}

/** Decides on the present row and writes the result; after a concurrent change it decides again, `If-Match` included. */
async function change(
  ctx: VerbContext,
  id: string,
  ifMatch: string | undefined,
  action: PodAction | 'reset' | 'update',
  decide: (before: PodRow) => Promise<PodChange<PodRow> | null>,
): Promise<OwnPod> {
  requireScope(ctx.principal, 'pods:write', id, podCapability(action))
  return decideAgain('pod', async () => {
    const pod = await own(ctx.env, ctx.principal, 'pod', id)
    const before = pod.row
    if (!matchesVersion(ifMatch, before.version)) throw new Problem('preconditionFailed')
    const decided = await decide(before)
    if (!decided) return pod
    const outcome = await transitPod(ctx.env, before, decided, { cause: causeOf(ctx), action: `pods.${action}` }).catch(
      (error: unknown) => {
        if (isAddressTaken(error)) return 'lost' as const
        throw error
      },
    )
    if (outcome === 'done') return pod.with(decided.pod)
    return outcome === 'lost' ? null : refusePlace(ctx, outcome, before, decided.pod)
  })
}

const DISK_TAKEN = 'There is not enough free disk on the host machine of this pod.'
const DISK_SHARE_TAKEN =
  "The pods of this account, including stopped ones, have reached their share of the disk of this pod's host machine. Terminate another pod there, or create a larger pod on another machine."

/** Throws the error of a change for which the pod's host or its account lacks something: 400, 402, 403 or 409. */
export async function refusePlace(ctx: VerbContext, reason: PlaceRefusal, before: PodRow, after: PodRow): Promise<never> {
  const isStart = isToRun(after) && !isToRun(before)
  const { compute } = after.spec
  const isGpu = compute.kind === 'gpu'
  const gpus = isGpu ? compute.count : 0
  switch (reason) {
    case 'inactive':
    case 'gpus':
    case 'spend':
      return refuseLimit(ctx, reason, { gpus, nanosPerHour: isStart ? startNanos(after) : growthNanos(before, after, isToRun(after)) })
    case 'diskShare': {
      // A disk that is larger than the free one exceeds the share too.
      const room = await readPodCapacity(openDatabase(ctx.env.DB), before, null)
      const isShare = room !== null && podDiskGb(after.spec) <= room.diskGb
      throw new Problem('badRequest', { detail: isShare ? DISK_SHARE_TAKEN : DISK_TAKEN, code: 'NO_CAPACITY' })
    }
    case 'host':
    case 'capacity':
      if (!isStart) throw new Problem('badRequest', { detail: DISK_TAKEN, code: 'NO_CAPACITY' })
      if (isGpu) await requireBudget(ctx.env, before.teamId, { gpus })
      throw problemOf(refuseStart(isGpu))
  }
}

/**
 * Throws 400 unless the pod's host is online and not cordoned: a pod starts only there, and would otherwise wait without a reason (POD-39).
 */
async function requireHost({ env }: VerbContext, { hostId }: PodRow): Promise<void> {
  const host = await findHostState(openDatabase(env.DB), hostId)
  if (host?.status === 'ONLINE' && host.cordonedAt === null) return
  throw new Problem('badRequest', { detail: describeAbsence(host), code: 'HOST_UNAVAILABLE' })
}

function describeAbsence(host: Awaited<ReturnType<typeof findHostState>>): string {
  if (!host) return 'The host machine of this pod is gone; terminate the pod and create another.'
  if (host.status !== 'ONLINE') return 'The host machine of this pod is offline; start the pod when it is back.'
  return 'The host machine of this pod takes no work at the moment; start the pod later.'
}

/**
 * Returns the pod as it would start with this many GPUs (GQL-37). Another number changes the cost, so the pod's own key may not ask for it.
 * Throws 400 and 403.
 */
async function countedForStart({ env, principal }: VerbContext, before: PodRow, count: number | undefined): Promise<PodRow> {
  const { compute } = before.spec
  if (count === undefined || compute.kind === 'cpu' || compute.count === count) return before
  requireScope(principal, 'pods:write')
  const db = openDatabase(env.DB)
  const [catalog, host, allocations] = await Promise.all([
    loadCatalog(env),
    findPlacementHost(db, before.hostId),
    listHeldCapacity(db, [before.hostId]),
  ])
  const counted = withGpuCount(before, count, { catalog, host, held: allocations.find(({ id }) => id === before.id) })
  if (!counted.ok) throw problemOf(counted.problem)
  return counted.pod
}
