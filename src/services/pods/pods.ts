import type { Pagination } from '../../contract/pagination.ts'
import type { ListPodsQuery, Pod } from '../../contract/pods/pods.ts'
import { etagOf } from '../../domain/text/etag.ts'
import { readSettings } from '../../env.ts'
import { type OwnPod, own, ownPods } from '../../objects/ownership/own.ts'
import { mapInPieces } from '../../platform/yield-thread.ts'
import type { VerbContext } from '../context.ts'
import { decodeCursor, pageOf } from '../cursor.ts'
import { readHeavyList } from '../heavy-reads.ts'
import { nearEnv } from '../near-reads.ts'
import { requireScope } from '../require-scope.ts'
import { readLivePods, silencesOf } from './live-pods.ts'
import { toPod } from './pod-view.ts'

const LIST_BINDING = 'listPods'
/** Rows of `readRows` that each pod of a page counts as (RATE-20); a pod takes 0.1 ms. */
const POD_WEIGHT = 10

/** A pod with the tag of its version, for `ETag`. */
export interface TaggedPod {
  pod: Pod
  etag: string
}

/** A page of pods, and since when the hosts of some have been silent. */
export interface PodPage {
  pods: Pod[]
  pagination: Pagination
  silentSinceMs: ReadonlyMap<string, number>
}

/** Pods converted to views at once, which takes a few milliseconds. */
const VIEWED_AT_ONCE = 100

/**
 * Returns a page of the account's live pods, newest first, cut short when it gets large (POD-1, PAG-1 to PAG-3, POD-50). Members of
 * clusters are removed after the page is cut (PAG-7), and so is what does not match `label` behind the examined pods (LBL-5). Throws 403,
 * and 422 for a cursor of another list.
 */
export async function listPods(ctx: VerbContext, query: ListPodsQuery): Promise<PodPage> {
  requireScope(ctx.principal, 'pods:read')
  const filters = query.label ?? []
  const binding = [LIST_BINDING, query.includeClusterPods, ...filters].join(' ')
  const after = decodeCursor(binding, query.cursor)
  const page = async () => ownPods(await nearEnv(ctx), ctx.principal, after, query.limit + 1, filters)
  const weigh = ({ pods, examined }: Awaited<ReturnType<typeof page>>) => pods.length + examined / POD_WEIGHT
  const { pods: read, found, end } = await readHeavyList(ctx, POD_WEIGHT, page, weigh)
  const positionOf = ({ row: { createdAtMs, id } }: OwnPod) => ({ createdAt: createdAtMs, id })
  const { shown, pagination } = pageOf(read, query.limit, binding, positionOf, found, end)
  const pods = query.includeClusterPods ? shown : shown.filter(({ row }) => row.clusterId === null)
  const live = await readLivePods(ctx.env, pods)
  const settings = readSettings(ctx.env)
  const views = await mapInPieces(pods, VIEWED_AT_ONCE, ({ id, row }) => toPod(row, settings, ctx.nowMs, live.get(id)))
  return { pods: views, pagination, silentSinceMs: silencesOf(live) }
}

/** Returns the present state of a pod. Throws 403, and 404 for an id that is unknown, terminated or another account's (POD-12, AUT-5). */
export async function getPod(ctx: VerbContext, id: string): Promise<TaggedPod> {
  requireScope(ctx.principal, 'pods:read', id)
  return showPod(ctx, await own(ctx.env, ctx.principal, 'pod', id))
}

/** Returns a pod with its live state. */
export async function showPod({ env, nowMs }: Pick<VerbContext, 'env' | 'nowMs'>, pod: OwnPod): Promise<TaggedPod> {
  const live = await readLivePods(env, [pod])
  return { pod: toPod(pod.row, readSettings(env), nowMs, live.get(pod.id)), etag: etagOf(pod.row.version) }
}
