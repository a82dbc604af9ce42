import { listCatalogEntries } from '../db/catalog/entries.ts'
import { openDatabase } from '../db/client.ts'
import type { Catalog } from '../domain/catalog/catalog.ts'
import { mergeCatalog } from '../domain/catalog/merge.ts'
import { SEED_CATALOG } from '../domain/catalog/seed.ts'
import type { Env } from '../env.ts'
import { ExpiringCache } from '../platform/expiring-cache.ts'

/** How old an isolate's catalog may be (CAT-8): what an operator changes decides everywhere after that. */
export const CATALOG_TTL_MS = 5_000

const KEY = 'catalog'
const known = new ExpiringCache<Catalog>(CATALOG_TTL_MS, 1)

/** What the plane offers and for how much, at most `CATALOG_TTL_MS` old. */
export async function loadCatalog(env: Env): Promise<Catalog> {
  const remembered = known.get(KEY, Date.now())
  if (remembered) return remembered
  // The age counts from before the read: what is written while it runs is not in it.
  const readAtMs = Date.now()
  const catalog = mergeCatalog(SEED_CATALOG, await listCatalogEntries(openDatabase(env.DB)))
  known.set(KEY, catalog, readAtMs)
  return catalog
}

/** Forgets what this isolate knows, after a change that came through it. */
export function forgetCatalog(): void {
  known.clear()
}
