import { listCatalogEntries } from '../db/catalog/entries.ts'
import { openDatabase } from '../db/client.ts'
import { type Catalog, findListedDataCenter } from '../domain/catalog/catalog.ts'
import { joinedDataCenter } from '../domain/catalog/data-centers.ts'
import { hintOfAll, type LocationHint } from '../domain/catalog/location-hint.ts'
import { mergeCatalog } from '../domain/catalog/merge.ts'
import { SEED_CATALOG } from '../domain/catalog/seed.ts'
import type { Env } from '../env.ts'
import { ExpiringCache } from '../platform/expiring-cache.ts'

/** Maximum age of an isolate's catalog (CAT-8): after this time an operator's change applies everywhere. */
export const CATALOG_TTL_MS = 5_000

const KEY = 'catalog'
const known = new ExpiringCache<Catalog>(CATALOG_TTL_MS, 1)

/** Returns the catalog of resources and prices, at most `CATALOG_TTL_MS` old. */
export function loadCatalog(env: Env): Promise<Catalog> {
  // The age counts by the clock of the isolate, because objects without a request read the catalog too.
  return known.load(KEY, Date.now(), async () => mergeCatalog(SEED_CATALOG, await listCatalogEntries(openDatabase(env.DB))))
}

/**
 * Returns the region in which an object near these data centers is created (HOST-191); null if there is no single one. It reads nothing:
 * a data center that neither this isolate's last catalog nor the built-in list has is unknown.
 */
export function regionOf(dataCenterIds: readonly string[]): LocationHint | null {
  const catalog = known.get(KEY, Date.now()) ?? SEED_CATALOG
  return hintOfAll(dataCenterIds.map((id) => findListedDataCenter(catalog, id) ?? joinedDataCenter(id)))
}

/** Drops this isolate's cached catalog after a change made through this isolate. */
export function dropCatalog(): void {
  known.clear()
}
