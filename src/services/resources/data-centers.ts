import { openDatabase } from '../../db/client.ts'
import { hasHostIn } from '../../db/data-centers.ts'
import { type DataCenter, findSeededDataCenter, joinedDataCenter } from '../../domain/resources/data-centers.ts'
import type { Env } from '../../env.ts'

/** A data center of the seed, or one that a machine has joined in (RES-2); null when nobody knows the id. */
export async function findDataCenter(env: Env, id: string): Promise<DataCenter | null> {
  const seeded = findSeededDataCenter(id)
  if (seeded) return seeded
  return (await hasHostIn(openDatabase(env.DB), id)) ? joinedDataCenter(id) : null
}
