import type { CpuFlavor, GpuType } from './catalog.ts'
import type { DataCenter } from './data-centers.ts'
import type { StoragePrices } from './storage.ts'

/** The parts of the catalog that an operator can set. */
export const CATALOG_KINDS = ['GPU', 'CPU', 'DATA_CENTER', 'STORAGE', 'PUBLISHER'] as const
export type CatalogKind = (typeof CATALOG_KINDS)[number]

/** The fields of an entry that replace those of the seed, by kind. An entry for an id that the seed lacks has all fields. */
export interface EntryBodies {
  GPU: Partial<Omit<GpuType, 'id'>>
  CPU: Partial<Omit<CpuFlavor, 'id'>>
  DATA_CENTER: Partial<Omit<DataCenter, 'id'>>
  STORAGE: Partial<StoragePrices[keyof StoragePrices]>
  /** An account whose public templates are shown as official or verified (CAT-6). */
  PUBLISHER: { source: 'official' | 'verified' }
}

/** The body of a catalog entry of any kind. */
export type CatalogEntry = EntryBodies[CatalogKind]

/** An entry with its kind and id. */
export type KeyedEntry = { [Kind in CatalogKind]: { kind: Kind; id: string; body: EntryBodies[Kind] } }[CatalogKind]
