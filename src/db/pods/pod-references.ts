import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Database, Statement } from '../client.ts'
import { isNullFailure } from '../refusals.ts'
import { globalVolumes, networkVolumes, pods, registries } from '../schema.ts'
import type { PodRow } from './pods.ts'

type PodReferences = Pick<PodRow, 'id' | 'teamId' | 'networkVolumeId' | 'globalVolumeId' | 'registryId'>

/**
 * A statement for the batch that stores a pod, after its INSERT: fails the batch when a volume or credential that the pod names is not the
 * team's. Deletions check for live pods inside their DELETE, so of a concurrent create and deletion one is refused.
 */
export function requireReferences(db: Database, { id, teamId, networkVolumeId, globalVolumeId, registryId }: PodReferences): Statement {
  const conditions = [
    networkVolumeId === null ? [] : [owned(networkVolumes, teamId, networkVolumeId)],
    globalVolumeId === null ? [] : [owned(globalVolumes, teamId, globalVolumeId)],
    registryId === null ? [] : [owned(registries, teamId, registryId)],
  ].flat()
  const hold = and(sql`1`, ...conditions) ?? sql`1`
  // The column is NOT NULL: the statement fails only for a pod without its references.
  return db
    .update(pods)
    .set({ name: sql`NULL` })
    .where(and(eq(pods.id, id), sql`NOT (${hold})`))
}

/** Whether a batch failed because of `requireReferences`: a resource that the pod names was deleted meanwhile. */
export function isReferenceFailure(error: unknown): boolean {
  return isNullFailure(error, 'pods.name')
}

/**
 * A statement that fails the batch when another live pod of the team has the pod's name (GQL-19): of two concurrent creates one is refused.
 */
export function requireOwnName(db: Database, { id, teamId, name }: Pick<PodRow, 'id' | 'teamId' | 'name'>): Statement {
  const taken = sql`EXISTS (SELECT 1 FROM pods AS other WHERE other.team_id = ${teamId} AND other.name = ${name} AND other.id <> ${id}
    AND other.status <> 'TERMINATED')`
  return db
    .update(pods)
    .set({ status: sql`NULL` })
    .where(and(eq(pods.id, id), taken))
}

/** Whether a batch failed because of `requireOwnName`. */
export function isNameFailure(error: unknown): boolean {
  return isNullFailure(error, 'pods.status')
}

function owned(table: typeof networkVolumes | typeof globalVolumes | typeof registries, teamId: string, id: string): SQL {
  return sql`EXISTS (SELECT 1 FROM ${table} WHERE ${and(eq(table.teamId, teamId), eq(table.id, id))})`
}
