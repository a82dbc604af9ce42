import { Problem } from '../../contract/problems.ts'
import { openDatabase } from '../../db/client.ts'
import { hasHostIn, listHostDataCenters } from '../../db/hosts/data-centers.ts'
import { findListedDataCenter } from '../../domain/catalog/catalog.ts'
import { type DataCenter, joinedDataCenter } from '../../domain/catalog/data-centers.ts'
import { loadCatalog } from '../../effects/catalog.ts'
import type { Env } from '../../env.ts'

/** Returns a data center of the catalog, or one that a host has joined in (RES-2); null for an unknown id. */
export async function findDataCenter(env: Env, id: string): Promise<DataCenter | null> {
  const listed = findListedDataCenter(await loadCatalog(env), id)
  if (listed) return listed
  return (await hasHostIn(openDatabase(env.DB), id)) ? joinedDataCenter(id) : null
}

/** Returns the first unknown id; null when each is in the catalog or a host has joined in it (POD-9, REST-32). */
export async function findUnknownDataCenter(env: Env, ids: readonly string[]): Promise<string | null> {
  if (ids.length === 0) return null
  const catalog = await loadCatalog(env)
  const others = ids.filter((id) => !findListedDataCenter(catalog, id))
  if (others.length === 0) return null
  const joined = new Set(await listHostDataCenters(openDatabase(env.DB)))
  return others.find((id) => !joined.has(id)) ?? null
}

/** Throws 400 for unknown data centers (POD-9, REST-32). */
export async function requireDataCenters(env: Env, ids: readonly string[] = []): Promise<void> {
  const unknown = await findUnknownDataCenter(env, ids)
  if (unknown !== null) throw new Problem('badRequest', { detail: `dataCenterIds: data center ${unknown} not found` })
}
