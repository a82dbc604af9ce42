import { and, eq, isNull, ne, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { endpoints, pods } from '../schema.ts'
import type { ResourceUsers } from './delete-unused.ts'

/** Live pods and endpoints that mount a network volume (VOL-3). */
export function usersOfNetworkVolume(teamId: string, id: string): ResourceUsers {
  const named = sql`EXISTS (SELECT 1 FROM json_each(${endpoints.config}, '$.networkVolumes') AS volume WHERE volume.value = ${id})`
  return { byPod: livePodExists(teamId, pods.networkVolumeId, id), byEndpoint: endpointExists(teamId, named) }
}

/** Live pods that mount a global volume (GLV-2). */
export function usersOfGlobalVolume(teamId: string, id: string): ResourceUsers {
  return { byPod: livePodExists(teamId, pods.globalVolumeId, id) }
}

/** Live pods and endpoints that pull with a credential (REG-2). */
export function usersOfRegistry(teamId: string, id: string): ResourceUsers {
  const named = sql`json_extract(${endpoints.config}, '$.container.registry') = ${id}`
  return { byPod: livePodExists(teamId, pods.registryId, id), byEndpoint: endpointExists(teamId, named) }
}

/** Live pods and endpoints of the owner that were made from a template (TPL-5). Those of other accounts do not count: nobody may hold a stranger's template. */
export function usersOfTemplate(teamId: string, id: string): ResourceUsers {
  const named = sql`json_extract(${endpoints.config}, '$.templateId') = ${id}`
  return { byPod: livePodExists(teamId, pods.templateId, id), byEndpoint: endpointExists(teamId, named) }
}

function livePodExists(teamId: string, column: SQLiteColumn, id: string): SQL {
  return sql`EXISTS (SELECT 1 FROM ${pods} WHERE ${and(eq(pods.teamId, teamId), eq(column, id), ne(pods.status, 'TERMINATED'))})`
}

function endpointExists(teamId: string, condition: SQL): SQL {
  const live = and(eq(endpoints.teamId, teamId), isNull(endpoints.deletedAt), condition)
  return sql`EXISTS (SELECT 1 FROM ${endpoints} WHERE ${live})`
}
