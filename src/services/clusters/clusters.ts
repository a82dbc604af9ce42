import type { Cluster, UpdateClusterRequest } from '../../contract/clusters/clusters.ts'
import type { SearchQuery } from '../../contract/list-query.ts'
import type { Pod } from '../../contract/pods/pods.ts'
import { Problem } from '../../contract/problems.ts'
import { openDatabase, openRecords } from '../../db/client.ts'
import * as table from '../../db/clusters/clusters.ts'
import { etagOf } from '../../domain/text/etag.ts'
import { reconcileSoon } from '../../effects/notify-cluster.ts'
import { readSettings } from '../../env.ts'
import { type OwnCluster, own, ownMembers, ownMembersOf } from '../../objects/ownership/own.ts'
import { clusterStub } from '../../objects/stubs.ts'
import { DELETED, noteChange } from '../audit.ts'
import type { VerbContext } from '../context.ts'
import { decideAgain } from '../decide-again.ts'
import { nearEnv } from '../near-reads.ts'
import { readLivePods, silencesOf } from '../pods/live-pods.ts'
import { toPod } from '../pods/pod-view.ts'
import { reportTag, requireMatch } from '../precondition.ts'
import { requireScope } from '../require-scope.ts'
import { toCluster } from './cluster-view.ts'

/** Returns all clusters of the account that match a search (CLU-1). Throws 403. */
export async function listClusters(ctx: VerbContext, search: SearchQuery = {}): Promise<Cluster[]> {
  requireScope(ctx.principal, 'clusters:read')
  const db = openRecords(await nearEnv(ctx))
  const { teamId } = ctx.principal
  return (await table.viewClusters(db, teamId, await table.listClusters(db, teamId, search))).map(toCluster)
}

/** Returns the cluster members on silent hosts, and since when, by pod (BIL-30): one query, and one call per host. */
export async function readSilentMembers(ctx: VerbContext, ids: readonly string[]): Promise<Map<string, number>> {
  return ids.length === 0 ? new Map() : silencesOf(await readLivePods(ctx.env, await ownMembersOf(ctx.env, ctx.principal, ids)))
}

/** Returns the present state of a cluster. Throws 403, and 404 for an id that is unknown, deleted or another account's (AUT-5). */
export async function getCluster(ctx: VerbContext, id: string): Promise<Cluster> {
  requireScope(ctx.principal, 'clusters:read')
  return show(ctx, await own(ctx.env, ctx.principal, 'cluster', id))
}

/** Returns the members of a cluster with all fields, by rank (CLU-1). Throws 403 and 404. */
export async function listClusterPods(ctx: VerbContext, id: string): Promise<Pod[]> {
  requireScope(ctx.principal, 'clusters:read')
  const members = await ownMembers(ctx.env, await own(ctx.env, ctx.principal, 'cluster', id))
  const live = await readLivePods(ctx.env, members)
  const settings = readSettings(ctx.env)
  return members.map(({ id: podId, row }) => toPod(row, settings, ctx.nowMs, live.get(podId)))
}

/** Returns the members of several clusters, by cluster: one query, and one call per host (GQL-30). Throws 403. */
export async function listPodsOfClusters(ctx: VerbContext, ids: readonly string[]): Promise<Map<string, Pod[]>> {
  requireScope(ctx.principal, 'clusters:read')
  const members = await ownMembersOf(ctx.env, ctx.principal, ids)
  const live = await readLivePods(ctx.env, members)
  const settings = readSettings(ctx.env)
  const byCluster = Map.groupBy(members, ({ row }) => row.clusterId ?? '')
  return new Map([...byCluster].map(([id, of]) => [id, of.map((pod) => toPod(pod.row, settings, ctx.nowMs, live.get(pod.id)))]))
}

/** Renames a cluster and its members (CLU-5). Throws 403 and 404. */
export async function updateCluster(ctx: VerbContext, id: string, { name }: UpdateClusterRequest): Promise<Cluster> {
  requireScope(ctx.principal, 'clusters:write')
  return decideAgain('cluster', async () => {
    const cluster = await own(ctx.env, ctx.principal, 'cluster', id)
    requireMatch(ctx, etagOf(cluster.row.version))
    if (name === undefined || name === cluster.row.name) return show(ctx, cluster)
    const contents = { before: { name: cluster.row.name }, after: { name } }
    const note = noteChange(ctx, { action: 'clusters.update', resourceKind: 'cluster', resourceId: id, ...contents })
    if (!(await table.renameCluster(openDatabase(ctx.env.DB), cluster.row, name, note))) return null
    return show(ctx, cluster.with({ ...cluster.row, name, version: cluster.row.version + 1 }))
  })
}

/**
 * Deletes a cluster in any state: every member is terminated (CLU-5, CLU-10). The cluster's object completes by itself what cannot be done
 * at once. Throws 403 and 404.
 */
export async function deleteCluster(ctx: VerbContext, id: string): Promise<void> {
  requireScope(ctx.principal, 'clusters:write')
  const note = noteChange(ctx, { action: 'clusters.delete', resourceKind: 'cluster', resourceId: id, ...DELETED })
  await decideAgain('cluster', async () => {
    const cluster = await own(ctx.env, ctx.principal, 'cluster', id)
    requireMatch(ctx, etagOf(cluster.row.version))
    const object = clusterStub(ctx.env, cluster)
    // After a crash that follows the next statement, the object finishes the deletion.
    await object.expect(id)
    if (!(await table.markDeleted(openDatabase(ctx.env.DB), cluster.row, ctx.nowMs, note))) return null
    await reconcileSoon(object, id)
    return cluster
  })
}

async function show(ctx: VerbContext, { row }: OwnCluster): Promise<Cluster> {
  const [view] = await table.viewClusters(openRecords(ctx.env), row.teamId, [row])
  if (!view) throw new Problem('notFound')
  reportTag(ctx, etagOf(row.version))
  return toCluster(view)
}
