import type { Pagination } from '../../contract/pagination.ts'
import { type ListPodsQuery, MAX_REASONS, type Pod, type PodCounts } from '../../contract/pods/pods.ts'
import { openDatabase } from '../../db/client.ts'
import { positionOf as orderedPosition } from '../../db/list-order.ts'
import * as table from '../../db/pods/pod-counts.ts'
import type { PodFilter } from '../../db/pods/pod-filter.ts'
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
  /** Only with `include=COUNTS`. */
  counts?: PodCounts
}

/** Pods converted to views at once, which takes a few milliseconds. */
const VIEWED_AT_ONCE = 100

/**
 * Returns a page of the account's live pods in the requested order, cut short when it gets large (POD-1, PAG-1 to PAG-3, POD-50). Members
 * of clusters are removed after the page is cut (PAG-7) unless the list is narrowed (PAG-22), and so is what does not match `label` behind
 * the examined pods (LBL-5). Throws 403, and 422 for a cursor of another list.
 */
export async function listPods(ctx: VerbContext, query: ListPodsQuery): Promise<PodPage> {
  requireScope(ctx.principal, 'pods:read')
  const filter = filterOf(query)
  const binding = bindingOf(query)
  const after = decodeCursor(binding, query.cursor)
  const read = async () => {
    const [page, counts] = await Promise.all([
      ownPods(await nearEnv(ctx), ctx.principal, after, query.limit + 1, filter),
      readCounts(ctx, query),
    ])
    return { page, counts }
  }
  // A search may go through all pods of the account, as the counts do.
  const weigh = ({ page, counts }: Awaited<ReturnType<typeof read>>) =>
    page.pods.length + (page.examined + (counts?.total ?? 0)) / POD_WEIGHT
  const { page, counts } = await readHeavyList(ctx, POD_WEIGHT, read, weigh)
  const positionOf = ({ row: { createdAtMs, id, name } }: OwnPod) => orderedPosition(filter.sort, { createdAt: createdAtMs, id, name })
  const { shown, pagination } = pageOf(page.pods, query.limit, binding, positionOf, page.found, page.end)
  const pods = query.includeClusterPods ? shown : shown.filter(({ row }) => row.clusterId === null)
  const live = await readLivePods(ctx.env, pods)
  const settings = readSettings(ctx.env)
  const views = await mapInPieces(pods, VIEWED_AT_ONCE, ({ id, row }) => toPod(row, settings, ctx.nowMs, live.get(id)))
  return { pods: views, pagination, silentSinceMs: silencesOf(live), ...(query.include && counts && { counts }) }
}

const isNarrowed = ({ name = '', status = [], sort }: ListPodsQuery) => name !== '' || status.length > 0 || sort !== undefined

function filterOf(query: ListPodsQuery): PodFilter {
  const { label = [], status = [], name = '', sort = 'newest' } = query
  return { labels: label, statuses: status, name, sort, withoutMembers: isNarrowed(query) && !query.includeClusterPods }
}

function bindingOf({ includeClusterPods, label = [], status = [], name = '', sort = 'newest' }: ListPodsQuery): string {
  const binding = [LIST_BINDING, includeClusterPods, ...label]
  const narrowed = status.length > 0 || name !== '' || sort !== 'newest'
  return [...binding, ...(narrowed ? [JSON.stringify([status, name, sort])] : [])].join(' ')
}

async function readCounts({ env, principal }: VerbContext, query: ListPodsQuery): Promise<PodCounts | null> {
  if (!query.include && !isNarrowed(query)) return null
  const db = openDatabase(env.DB)
  const [rows, reasons] = await Promise.all([
    table.countPods(db, principal.teamId, query.includeClusterPods),
    query.include ? table.listReasons(db, principal.teamId, query.includeClusterPods, MAX_REASONS) : [],
  ])
  const total = rows.reduce((sum, { count }) => sum + count, 0)
  return { total, byStatus: Object.fromEntries(rows.map(({ status, count }) => [status, count])), reasons }
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
