import type { GpuType } from '../../contract/catalog/catalog.ts'
import { levelOf, type Room } from '../../domain/availability.ts'
import type { DataCenter } from '../../domain/catalog/data-centers.ts'

/** Returns the availability by data center, in the order of `dataCenters`; empty when nothing fits anywhere (CAT-3). */
export function availabilityByDataCenter({ byDataCenter }: Room, dataCenters: readonly DataCenter[]): Pick<GpuType, 'dataCenters'> {
  const fitting = dataCenters.filter(({ id }) => byDataCenter.has(id))
  if (fitting.length === 0) return {}
  return { dataCenters: fitting.map(({ id, name }) => ({ id, name, availability: levelOf(byDataCenter.get(id) ?? 0) })) }
}
