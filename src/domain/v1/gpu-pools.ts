import { type Catalog, findGpuType, gpuTypesOfPools } from '../catalog/catalog.ts'

/** Pools and excluded types that together mean some GPU types, or why there are none. */
export type PooledGpus = { ok: true; pools: string[]; excludedTypes: string[] } | { ok: false; detail: string }

/**
 * Pools that hold these GPU types, in the order in which the types first name them, and the types of these pools that were not named
 * (LEG-9). v1 names types, v2 pools.
 */
export function poolsOf(catalog: Catalog, typeIds: readonly string[]): PooledGpus {
  const pools: string[] = []
  for (const id of typeIds) {
    const pool = findGpuType(catalog, id)?.pool
    if (!pool)
      return {
        ok: false,
        detail: `$.gpuTypeIds: ${id} is ${pool === null ? 'in no pool for Serverless' : 'not a known GPU type'}`,
      }
    if (!pools.includes(pool)) pools.push(pool)
  }
  const excludedTypes = gpuTypesOfPools(catalog, pools, []).filter((id) => !typeIds.includes(id))
  return { ok: true, pools, excludedTypes }
}

/** Display name of a GPU type. */
export function gpuName(catalog: Catalog, typeId: string): string {
  return findGpuType(catalog, typeId)?.name ?? typeId
}
