import { type Catalog, findGpuType, gpuTypesOfPools } from '../catalog/catalog.ts'

export type PooledGpus = { ok: true; pools: string[]; excludedTypes: string[] } | { ok: false; detail: string }

/** The pools that hold these types, in the order of the first of each, and what of them was not named (LEG-9): v1 names types, v2 pools. */
export function poolsOf(catalog: Catalog, typeIds: readonly string[]): PooledGpus {
  const pools: string[] = []
  for (const id of typeIds) {
    const pool = findGpuType(catalog, id)?.pool
    if (!pool)
      return {
        ok: false,
        detail: `$.gpuTypeIds: ${id} is ${pool === null ? 'in no pool for Serverless' : 'no GPU type that is known here'}`,
      }
    if (!pools.includes(pool)) pools.push(pool)
  }
  const excludedTypes = gpuTypesOfPools(catalog, pools, []).filter((id) => !typeIds.includes(id))
  return { ok: true, pools, excludedTypes }
}

/** What people call a type. */
export function gpuName(catalog: Catalog, typeId: string): string {
  return findGpuType(catalog, typeId)?.name ?? typeId
}
