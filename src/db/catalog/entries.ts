import type { KeyedEntry } from '../../domain/catalog/entries.ts'
import type { Database } from '../client.ts'
import { catalogEntries } from '../tables/catalog.ts'

/** Everything that the operator says of the catalog, by id. */
export async function listCatalogEntries(db: Database): Promise<KeyedEntry[]> {
  const { kind, id, body } = catalogEntries
  const rows = await db.select({ kind, id, body }).from(catalogEntries).orderBy(kind, id)
  // The body is of the kind that its row names: nothing else writes one.
  return rows as KeyedEntry[]
}
