import type { Catalog } from './catalog.ts'
import type { CatalogKind, EntryBodies, KeyedEntry } from './entries.ts'
import type { StoragePrices } from './storage.ts'

/** The seed with the operator's entries: fields of an entry replace those of the seed, and new ids follow it. */
export function mergeCatalog(seed: Catalog, entries: readonly KeyedEntry[]): Catalog {
  return {
    gpuTypes: mergeList(seed.gpuTypes, bodiesOf(entries, 'GPU')),
    cpuFlavors: mergeList(seed.cpuFlavors, bodiesOf(entries, 'CPU')),
    dataCenters: mergeList(seed.dataCenters, bodiesOf(entries, 'DATA_CENTER')),
    storage: mergeStorage(seed.storage, bodiesOf(entries, 'STORAGE')),
  }
}

function bodiesOf<Kind extends CatalogKind>(entries: readonly KeyedEntry[], kind: Kind): Map<string, EntryBodies[Kind]> {
  return new Map(entries.flatMap((entry) => (entry.kind === kind ? [[entry.id, entry.body as EntryBodies[Kind]]] : [])))
}

function mergeList<Known extends { id: string }>(seed: readonly Known[], bodies: ReadonlyMap<string, Partial<Omit<Known, 'id'>>>): Known[] {
  const ids = new Set(seed.map(({ id }) => id))
  const merged = seed.map((known) => ({ ...known, ...bodies.get(known.id) }))
  // An entry with an id that the seed lacks is complete: `completeEntry` ran before it was stored.
  const added = [...bodies].filter(([id]) => !ids.has(id)).map(([id, body]) => ({ id, ...body }) as Known)
  return [...merged, ...added]
}

function mergeStorage(seed: StoragePrices, bodies: ReadonlyMap<string, EntryBodies['STORAGE']>): StoragePrices {
  const of = <Id extends keyof StoragePrices>(id: Id): StoragePrices[Id] => ({ ...seed[id], ...bodies.get(id) })
  return {
    containerDisk: of('containerDisk'),
    persistentDisk: of('persistentDisk'),
    networkVolume: of('networkVolume'),
  }
}
