import type {
  PutCatalogCpu,
  PutCatalogDataCenter,
  PutCatalogGpu,
  PutCatalogPublisher,
  PutCatalogStorage,
} from '../../contract/catalog/entries.ts'
import { Problem } from '../../contract/problems.ts'
import type { EntryBodies, KeyedEntry } from '../../domain/catalog/entries.ts'
import { SEED_STORAGE, type StoragePrices } from '../../domain/catalog/storage.ts'

// Entries in the catalog's field names, converted from the operator's requests; omitted fields stay omitted.

/** Returns the entry of a GPU type. */
export function gpuEntry(id: string, { memory, price, ...same }: PutCatalogGpu): KeyedEntry {
  const body: Record<string, unknown> = {
    ...same,
    memoryGb: memory,
    securePrice: price?.secure,
    communityPrice: price?.community,
    serverlessPrice: price?.serverless,
  }
  return { kind: 'GPU', id, body: said(body) }
}

/** Returns the entry of a CPU flavor. */
export function cpuEntry(id: string, { vcpu, price, ...same }: PutCatalogCpu): KeyedEntry {
  const body: Record<string, unknown> = {
    ...same,
    minVcpu: vcpu?.min,
    maxVcpu: vcpu?.max,
    securePricePerVcpu: price?.securePerVcpu,
    serverlessPricePerVcpu: price?.serverlessPerVcpu,
  }
  return { kind: 'CPU', id, body: said(body) }
}

/** Returns the entry of a data center. */
export function dataCenterEntry(id: string, body: PutCatalogDataCenter): KeyedEntry {
  return { kind: 'DATA_CENTER', id, body: said(body) }
}

/** Returns the entry of an account whose public templates are shown as official or verified. */
export function publisherEntry(id: string, body: PutCatalogPublisher): KeyedEntry {
  return { kind: 'PUBLISHER', id, body }
}

/** Returns the entry of a kind of storage. Throws 400 for a field that this kind does not have. */
export function storageEntry(id: keyof StoragePrices, body: PutCatalogStorage): KeyedEntry {
  const seeded: Readonly<Record<string, unknown>> = SEED_STORAGE[id]
  const foreign = Object.keys(body).find((name) => !(name in seeded))
  if (foreign !== undefined)
    throw new Problem('badRequest', { detail: `${id} has no ${foreign}, only ${Object.keys(seeded).join(' and ')}` })
  const filled = Object.entries(body).map(([name, price]) => [
    name,
    typeof price === 'object' ? { ...(seeded[name] as object), ...price } : price,
  ])
  return { kind: 'STORAGE', id, body: Object.fromEntries(filled) as EntryBodies['STORAGE'] }
}

function said<Body>(body: object): Body {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as Body
}
