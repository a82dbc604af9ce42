import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { ResourceUsers } from './delete-unused.ts'
import { endpoints } from './schema.ts'

/** Live pods and endpoints that mount a network volume (VOL-3). */
export function usersOfNetworkVolume(teamId: string, id: string): ResourceUsers {
  const named = sql`EXISTS (SELECT 1 FROM json_each(${endpoints.config}, '$.networkVolumes') AS volume WHERE volume.value = ${id})`
  return { byPod: sql`0`, byEndpoint: endpointExists(teamId, named) }
}

/** Live pods that mount a global volume (GLV-2). */
export function usersOfGlobalVolume(_teamId: string, _id: string): ResourceUsers {
  return { byPod: sql`0` }
}

/** Live pods and endpoints that pull with a credential (REG-2). */
export function usersOfRegistry(teamId: string, id: string): ResourceUsers {
  return { byPod: sql`0`, byEndpoint: endpointExists(teamId, sql`json_extract(${endpoints.config}, '$.container.registry') = ${id}`) }
}

/** Live pods that were made from a template (TPL-5). */
export function usersOfTemplate(_teamId: string, _id: string): ResourceUsers {
  return { byPod: sql`0` }
}

function endpointExists(teamId: string, condition: SQL): SQL {
  const live = and(eq(endpoints.teamId, teamId), isNull(endpoints.deletedAt), condition)
  return sql`EXISTS (SELECT 1 FROM ${endpoints} WHERE ${live})`
}
