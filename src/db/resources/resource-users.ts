import { and, eq, isNull, ne, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { MAX_NAMED, type Named } from '../../domain/plan/effect.ts'
import type { Database } from '../client.ts'
import { endpoints, pods } from '../schema.ts'

/** Live pods and, where applicable, endpoints of a team that use a resource: conditions on their rows. */
export interface ResourceUsers {
  pods: SQL | undefined
  endpoints?: SQL | undefined
}

/** Live pods and endpoints that mount a network volume (VOL-3). */
export function usersOfNetworkVolume(teamId: string, id: string): ResourceUsers {
  const named = sql`EXISTS (SELECT 1 FROM json_each(${endpoints.config}, '$.networkVolumes') AS volume WHERE volume.value = ${id})`
  return { pods: livePods(teamId, pods.networkVolumeId, id), endpoints: liveEndpoints(teamId, named) }
}

/** Live pods that mount a global volume (GLV-2). */
export function usersOfGlobalVolume(teamId: string, id: string): ResourceUsers {
  return { pods: livePods(teamId, pods.globalVolumeId, id) }
}

/** Live pods and endpoints that pull with a credential (REG-2). */
export function usersOfRegistry(teamId: string, id: string): ResourceUsers {
  const named = sql`json_extract(${endpoints.config}, '$.container.registry') = ${id}`
  return { pods: livePods(teamId, pods.registryId, id), endpoints: liveEndpoints(teamId, named) }
}

/**
 * Live pods and endpoints of the owner that were made from a template (TPL-5). Those of other accounts do not count: no account may block
 * the deletion of another's template.
 */
export function usersOfTemplate(teamId: string, id: string): ResourceUsers {
  const named = sql`json_extract(${endpoints.config}, '$.templateId') = ${id}`
  return { pods: livePods(teamId, pods.templateId, id), endpoints: liveEndpoints(teamId, named) }
}

/** Live pods and endpoints of a team that run an image of a repository, whatever its tag or digest. */
export function usersOfRepository(teamId: string, repository: string): ResourceUsers {
  const isOf = (image: SQL) =>
    sql`substr(${image}, 1, ${repository.length}) = ${repository} AND substr(${image}, ${repository.length + 1}, 1) IN ('', ':', '@')`
  return {
    pods: and(ne(pods.status, 'TERMINATED'), eq(pods.teamId, teamId), isOf(sql`json_extract(${pods.spec}, '$.container.image')`)),
    endpoints: liveEndpoints(teamId, isOf(sql`json_extract(${endpoints.config}, '$.container.image')`)),
  }
}

/** Whether a pod uses the resource. */
export function isUsedByPod(users: ResourceUsers): SQL {
  return sql`EXISTS (SELECT 1 FROM ${pods} WHERE ${users.pods})`
}

/** Whether an endpoint uses the resource; undefined where none can. */
export function isUsedByEndpoint(users: ResourceUsers): SQL | undefined {
  return users.endpoints && sql`EXISTS (SELECT 1 FROM ${endpoints} WHERE ${users.endpoints})`
}

/** A resource as a preview names it. */
export interface NamedRow {
  id: string
  name: string
}

/** Pods and endpoints that use a resource, as far as they are listed. */
export interface ListedUsers {
  pods: Named<NamedRow>
  endpoints: Named<NamedRow>
}

/** The first users, and their total number. */
export async function listUsers(db: Database, users: ResourceUsers): Promise<ListedUsers> {
  const total = sql<number>`COUNT(*) OVER ()`
  const [ofPods, ofEndpoints] = await db.batch([
    db.select({ id: pods.id, name: pods.name, total }).from(pods).where(users.pods).limit(MAX_NAMED),
    db
      .select({ id: endpoints.id, name: endpoints.name, total })
      .from(endpoints)
      .where(users.endpoints ?? sql`FALSE`)
      .limit(MAX_NAMED),
  ])
  return { pods: named(ofPods), endpoints: named(ofEndpoints) }
}

/** Converts rows that each contain the total number. */
export function named(rows: readonly (NamedRow & { total: number })[]): Named<NamedRow> {
  return { first: rows.map(({ id, name }) => ({ id, name })), total: rows[0]?.total ?? 0 }
}

function livePods(teamId: string, column: SQLiteColumn, id: string): SQL | undefined {
  return and(eq(pods.teamId, teamId), eq(column, id), ne(pods.status, 'TERMINATED'))
}

function liveEndpoints(teamId: string, condition: SQL): SQL | undefined {
  return and(eq(endpoints.teamId, teamId), isNull(endpoints.deletedAt), condition)
}
