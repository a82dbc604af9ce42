import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Database, Statement } from '../client.ts'
import { required } from '../refusals.ts'
import { globalVolumes, networkVolumes, registries } from '../schema.ts'
import type { PodRow } from '../sealed-pod.ts'

type PodReferences = Pick<PodRow, 'id' | 'teamId' | 'networkVolumeId' | 'globalVolumeId' | 'registryId'>

/** Names of the refusals of `requireReferences`. */
export const REFERENCE_REFUSALS = ['networkVolume', 'globalVolume', 'registry'] as const
export type ReferenceRefusal = (typeof REFERENCE_REFUSALS)[number]

/**
 * The statement for the batch that stores a pod: it fails the batch when a volume or credential that the pod names is not the team's. Deletions
 * check for live pods inside their DELETE, so of a concurrent create and deletion one is refused. None for a pod without references.
 */
export function requireReferences(db: Database, { teamId, networkVolumeId, globalVolumeId, registryId }: PodReferences): Statement[] {
  const conditions: { [Name in ReferenceRefusal]?: SQL } = {
    ...(networkVolumeId !== null && { networkVolume: owned(networkVolumes, teamId, networkVolumeId) }),
    ...(globalVolumeId !== null && { globalVolume: owned(globalVolumes, teamId, globalVolumeId) }),
    ...(registryId !== null && { registry: owned(registries, teamId, registryId) }),
  }
  return Object.keys(conditions).length === 0 ? [] : [requirement(db, conditions)]
}

/**
 * A statement that fails the batch as `name` when another live pod of the team has the pod's name (GQL-19): of two concurrent creates one is
 * refused.
 */
export function requireOwnName(db: Database, { id, teamId, name }: Pick<PodRow, 'id' | 'teamId' | 'name'>): Statement {
  const isFree = sql`NOT EXISTS (SELECT 1 FROM pods AS other WHERE other.team_id = ${teamId} AND other.name = ${name} AND other.id <> ${id}
    AND other.status <> 'TERMINATED')`
  return requirement(db, { name: isFree })
}

function requirement(db: Database, conditions: Readonly<Record<string, SQL>>): Statement {
  return db.select({ holds: sql<number>`${required(conditions)}`.as('holds') }).from(sql`(SELECT 1)`)
}

function owned(table: typeof networkVolumes | typeof globalVolumes | typeof registries, teamId: string, id: string): SQL {
  return sql`EXISTS (SELECT 1 FROM ${table} WHERE ${and(eq(table.teamId, teamId), eq(table.id, id))})`
}
