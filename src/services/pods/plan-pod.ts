import type { ChangePlan } from '../../contract/change-plan.ts'
import type { PodAction } from '../../contract/enums.ts'
import type { UpdatePodRequest } from '../../contract/pods/pods.ts'
import { Problem } from '../../contract/problems.ts'
import { openDatabase } from '../../db/client.ts'
import { readPodCapacity } from '../../db/hosts/pod-capacity.ts'
import type { PodRow } from '../../db/pods/pods.ts'
import { podCapability } from '../../domain/access.ts'
import { noEffect } from '../../domain/plan/effect.ts'
import { planPodChange, podResource } from '../../domain/plan/pod.ts'
import { podDiskGb } from '../../domain/pod/place/placement.ts'
import { isToRun } from '../../domain/pod/pod.ts'
import { etagOf, matchesVersion } from '../../domain/text/etag.ts'
import { gpuOf } from '../../effects/pods/pod-spec.ts'
import { own } from '../../objects/ownership/own.ts'
import { planChange } from '../change-plan.ts'
import type { VerbContext } from '../context.ts'
import { requireScope } from '../require-scope.ts'
import { requireRegistry } from '../resources/registries.ts'
import { decideFor, decideUpdate, type PatchNeeds, refusePlace, requirePatchScope } from './change-pod.ts'
import { previewGlobalIp } from './global-address.ts'

/** A plan with the version of its pod, for `If-Match` of the change. */
export interface TaggedPlan {
  plan: ChangePlan
  etag: string
}

const PREVIEWED: PatchNeeds = { registry: requireRegistry, globalIp: previewGlobalIp }

/** Returns the plan of an action (DRY-2, DRY-6), by the same decisions as the action. Throws 403 and 404. */
export function planAction(ctx: VerbContext, id: string, action: PodAction, ifMatch: string | undefined): Promise<TaggedPlan> {
  return preview(ctx, id, ifMatch, action, async (row) => (await decideFor(ctx, row, action)).pod)
}

/** Returns the plan of a PATCH (DRY-6). Throws 403, 404, 413 and 422. */
export async function planUpdatePod(
  ctx: VerbContext,
  id: string,
  body: UpdatePodRequest,
  ifMatch: string | undefined,
): Promise<TaggedPlan> {
  requirePatchScope(ctx, body)
  return preview(ctx, id, ifMatch, 'update', async (row) => (await decideUpdate(ctx, row, body, PREVIEWED))?.pod ?? null)
}

async function preview(
  ctx: VerbContext,
  id: string,
  ifMatch: string | undefined,
  action: PodAction | 'update',
  decide: (row: PodRow) => Promise<PodRow | null>,
): Promise<TaggedPlan> {
  requireScope(ctx.principal, 'pods:write', id, podCapability(action))
  const { row } = await own(ctx.env, ctx.principal, 'pod', id)
  const resource = podResource(row)
  const plan = await planChange(`pods.${action}`, resource, async () => {
    if (!matchesVersion(ifMatch, row.version)) throw new Problem('preconditionFailed')
    const after = await decide(row)
    if (after === null) return noEffect(resource)
    const lack = await findLack(ctx, row, after)
    if (lack !== null) return refusePlace(ctx, lack, row, after)
    return planPodChange(row, after)
  })
  return { plan, etag: etagOf(row.version) }
}

/** Returns what the host lacks for the change, by the same conditions as the statement that reserves it (POD-17, MNT-4); null: nothing. */
async function findLack({ env }: VerbContext, before: PodRow, after: PodRow): Promise<'capacity' | 'diskShare' | null> {
  const isStart = isToRun(after) && !isToRun(before)
  if (!isStart && (after.status === 'TERMINATED' || podDiskGb(after.spec) <= podDiskGb(before.spec))) return null
  const gpu = gpuOf(after)
  const free = await readPodCapacity(openDatabase(env.DB), before, gpu?.typeId ?? null)
  if (!free || podDiskGb(after.spec) > free.diskGb) return 'capacity'
  if (!isStart) return podDiskGb(after.spec) > free.diskShareGb ? 'diskShare' : null
  return (gpu?.count ?? 0) > free.gpus || after.vcpus > free.vcpus || after.memoryMb > free.memoryMb ? 'capacity' : null
}
