import { and, eq, gt, inArray, isNull, ne, sql } from 'drizzle-orm'
import type { SearchQuery } from '../../contract/list-query.ts'
import { runNamed } from '../batch.ts'
import type { Database, Records, Statement } from '../client.ts'
import { orderOf, searched } from '../list-order.ts'
import { isOneOf } from '../one-of.ts'
import { clusters, overlays, pods } from '../schema.ts'
import { openPod, type PodRow } from '../sealed-pod.ts'
import type { ClusterRow } from './insert-cluster.ts'

export type { ClusterRow }

// Verbatim as in the partial indexes.
const IS_LIVE = sql`${pods.status} <> 'TERMINATED'`

const IDS_PER_QUERY = 100

/** A cluster with the state that follows from its members. */
export interface ClusterView {
  row: ClusterRow
  statuses: readonly { status: PodRow['status']; count: number }[]
  primary: PodRow | null
  /** Slot of its private network; null once it has none. */
  slot: number | null
}

/** A cluster of a team that is not deleted, or null. */
export async function findCluster(db: Database, teamId: string, id: string): Promise<ClusterRow | null> {
  return (await db.select().from(clusters).where(isOwn(teamId, id)).get()) ?? null
}

/** Any cluster, including deleted ones: for its object. */
export async function findClusterById(db: Database, id: string): Promise<ClusterRow | null> {
  return (await db.select().from(clusters).where(eq(clusters.id, id)).get()) ?? null
}

/** All clusters of a team that are not deleted and match a search, in its order. */
export async function listClusters(db: Database, teamId: string, search: SearchQuery = {}): Promise<ClusterRow[]> {
  return db
    .select()
    .from(clusters)
    .where(and(eq(clusters.teamId, teamId), isNull(clusters.deletedAtMs), searched(clusters.name, search)))
    .orderBy(...orderOf({ createdAt: clusters.createdAtMs, id: clusters.id, name: clusters.name }, search.sort ?? 'newest'))
}

/** Ids of a team's clusters after `afterId` that are not deleted. */
export function listClusterIds(db: Database, teamId: string, afterId: string): Promise<{ id: string }[]> {
  return db
    .select({ id: clusters.id })
    .from(clusters)
    .where(and(eq(clusters.teamId, teamId), isNull(clusters.deletedAtMs), gt(clusters.id, afterId)))
    .orderBy(clusters.id)
    .limit(IDS_PER_QUERY)
}

/** The views of clusters of a team. */
export async function viewClusters(db: Records, teamId: string, rows: readonly ClusterRow[]): Promise<ClusterView[]> {
  const ids = rows.map(({ id }) => id)
  const isOf = isOneOf(pods.clusterId, ids)
  const [counts, primaries, networks] = await db.batch([
    db
      .select({ clusterId: pods.clusterId, status: pods.status, count: sql<number>`COUNT(*)` })
      .from(pods)
      .where(and(isOf, eq(pods.teamId, teamId), IS_LIVE))
      .groupBy(pods.clusterId, pods.status),
    db
      .select()
      .from(pods)
      .where(and(isOf, eq(pods.teamId, teamId), IS_LIVE, eq(pods.clusterRank, 0))),
    db.select({ ownerId: overlays.ownerId, slot: overlays.slot }).from(overlays).where(isOneOf(overlays.ownerId, ids)),
  ])
  const primaryOf = new Map(primaries.map((kept) => [kept.clusterId, openPod(db.vault, kept)]))
  const slotOf = new Map(networks.map(({ ownerId, slot }) => [ownerId, slot]))
  return rows.map((row) => ({
    row,
    statuses: counts.filter(({ clusterId }) => clusterId === row.id).map(({ status, count }) => ({ status, count })),
    primary: primaryOf.get(row.id) ?? null,
    slot: slotOf.get(row.id) ?? null,
  }))
}

/** The members of a cluster that are not terminated, by rank. */
export async function listMembers(db: Records, teamId: string, clusterId: string): Promise<PodRow[]> {
  const rows = await db
    .select()
    .from(pods)
    .where(and(eq(pods.clusterId, clusterId), eq(pods.teamId, teamId), IS_LIVE))
    .orderBy(pods.clusterRank)
  return rows.map((row) => openPod(db.vault, row))
}

/**
 * The members of several clusters of a team that are not terminated, in one statement. The ids are one parameter, because D1 allows at most
 * a hundred.
 */
export async function listMembersOf(db: Records, teamId: string, clusterIds: readonly string[]): Promise<PodRow[]> {
  const named = isOneOf(pods.clusterId, clusterIds)
  const rows = await db
    .select()
    .from(pods)
    .where(and(named, eq(pods.teamId, teamId), IS_LIVE))
    .orderBy(pods.clusterRank)
  return rows.map((row) => openPod(db.vault, row))
}

/** Renames a cluster and its members (CLU-5, CLU-10). False when it is deleted, or was changed meanwhile. */
export async function renameCluster(db: Database, before: ClusterRow, name: string, note: Statement): Promise<boolean> {
  const renamed = db
    .update(clusters)
    .set({ name, version: sql`${clusters.version} + 1` })
    .where(isStill(before))
  const isRenamed = sql`EXISTS (SELECT 1 FROM clusters WHERE id = ${before.id} AND name = ${name} AND version = ${before.version + 1})`
  const members = db
    .update(pods)
    .set({ name: sql`${name} || '-' || ${pods.clusterRank}`, version: sql`${pods.version} + 1` })
    .where(and(eq(pods.clusterId, before.id), IS_LIVE, isRenamed))
  return (await runNamed(db, { renamed, note, members })).renamed > 0
}

/** Marks a cluster as deleted; its object terminates the members. False when it was deleted or changed meanwhile. */
export async function markDeleted(db: Database, before: ClusterRow, nowMs: number, note: Statement): Promise<boolean> {
  const deleted = db
    .update(clusters)
    .set({ deletedAtMs: nowMs, version: sql`${clusters.version} + 1` })
    .where(isStill(before))
  return (await runNamed(db, { deleted, note })).deleted > 0
}

function isStill({ id, teamId, version }: ClusterRow) {
  return and(isOwn(teamId, id), eq(clusters.version, version))
}

function isOwn(teamId: string, id: string) {
  return and(eq(clusters.id, id), eq(clusters.teamId, teamId), isNull(clusters.deletedAtMs))
}

/** Deletes a cluster's network and row, once no host has anything of it. */
export async function dropCluster(db: Database, id: string): Promise<void> {
  await db.batch([db.delete(overlays).where(eq(overlays.ownerId, id)), db.delete(clusters).where(eq(clusters.id, id))])
}

/** Sets the check that hosts receive with the network, unless a later one is set. */
export async function publishCheck(db: Database, clusterId: string, number: number): Promise<void> {
  await db
    .update(overlays)
    .set({ checkNumber: number })
    .where(and(eq(overlays.ownerId, clusterId), sql`${overlays.checkNumber} < ${number}`))
}

/** Lets members start, each with the container that was made ready; a member that has another container meanwhile keeps waiting. */
export async function releaseMembers(db: Database, members: readonly { id: string; generation: number }[]): Promise<void> {
  const ready = JSON.stringify(members.map(({ id, generation }) => ({ id, generation })))
  const isReady = sql`EXISTS (SELECT 1 FROM json_each(${ready}) m WHERE json_extract(m.value, '$.id') = ${pods.id}
    AND json_extract(m.value, '$.generation') = ${pods.generation})`
  await db
    .update(pods)
    .set({ readyGeneration: sql`${pods.generation}`, version: sql`${pods.version} + 1` })
    .where(
      and(inArray(pods.id, sql`(SELECT json_extract(value, '$.id') FROM json_each(${ready}))`), isReady, ne(pods.status, 'TERMINATED')),
    )
}
