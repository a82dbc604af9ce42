import type { CpuFlavor, GpuType } from './catalog.ts'
import type { DataCenter } from './data-centers.ts'
import type { StoragePrices } from './storage.ts'

/** The parts of the catalog that an operator keeps. */
export const CATALOG_KINDS = ['GPU', 'CPU', 'DATA_CENTER', 'STORAGE', 'PUBLISHER'] as const
export type CatalogKind = (typeof CATALOG_KINDS)[number]

/** What an entry says in place of the seed, by its kind. For an id that the seed does not know it says everything. */
export interface EntryBodies {
  GPU: Partial<Omit<GpuType, 'id'>>
  CPU: Partial<Omit<CpuFlavor, 'id'>>
  DATA_CENTER: Partial<Omit<DataCenter, 'id'>>
  STORAGE: Partial<StoragePrices[keyof StoragePrices]>
  /** An account whose public templates the operator shows as official or verified ones (CAT-6). */
  PUBLISHER: { source: 'official' | 'verified' }
}

export type CatalogEntry = EntryBodies[CatalogKind]

/** An entry with what it is of. */
export type KeyedEntry = { [Kind in CatalogKind]: { kind: Kind; id: string; body: EntryBodies[Kind] } }[CatalogKind]
