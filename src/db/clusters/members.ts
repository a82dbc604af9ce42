import { and, eq, sql } from 'drizzle-orm'
import type { ClusterState, Member } from '../../domain/cluster/life.ts'
import type { Database } from '../client.ts'
import { allocations, clusters, hosts, overlays, pods } from '../schema.ts'

/** The state that a cluster's object decides on; null: there is no such cluster. */
export async function readClusterState(db: Database, id: string): Promise<{ cluster: ClusterState; members: Member[] } | null> {
  const [rows, networks, members, held] = await db.batch([
    db
      .select({ teamId: clusters.teamId, onHostLoss: clusters.onHostLoss, deletedAtMs: clusters.deletedAtMs })
      .from(clusters)
      .where(eq(clusters.id, id)),
    db.select({ checkNumber: overlays.checkNumber }).from(overlays).where(eq(overlays.ownerId, id)),
    db
      .select({
        id: pods.id,
        rank: pods.clusterRank,
        hostId: pods.hostId,
        generation: pods.generation,
        status: pods.status,
        hostLost: pods.hostLost,
        hostDraining: hosts.draining,
        readyGeneration: pods.readyGeneration,
        triedHosts: pods.triedHosts,
        statusReason: pods.statusReason,
        changedAtMs: pods.changedAtMs,
      })
      .from(pods)
      .leftJoin(hosts, eq(hosts.id, pods.hostId))
      .where(and(eq(pods.clusterId, id), sql`${pods.status} <> 'TERMINATED'`))
      .orderBy(pods.clusterRank),
    db
      .select({ id: allocations.id })
      .from(allocations)
      .innerJoin(pods, eq(pods.id, allocations.ownerId))
      .innerJoin(clusters, eq(clusters.id, pods.clusterId))
      .where(and(eq(clusters.id, id), eq(allocations.teamId, clusters.teamId)))
      .limit(1),
  ])
  const [row] = rows
  if (!row) return null
  const cluster = {
    isDeleted: row.deletedAtMs !== null,
    onHostLoss: row.onHostLoss,
    checkNumber: networks[0]?.checkNumber ?? 0,
    holdsHosts: held.length > 0,
  }
  return {
    cluster,
    members: members.map((member) => {
      const { rank, readyGeneration, hostDraining } = member
      return { ...member, rank: rank ?? 0, readyGeneration: readyGeneration ?? 0, hostDraining: hostDraining ?? false }
    }),
  }
}
