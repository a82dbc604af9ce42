import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { CATALOG_KINDS, type CatalogEntry } from '../../../domain/catalog/entries.ts'

/** What the operator says of a GPU type, CPU flavor, data center or of storage, in place of the seed. */
export const catalogEntries = sqliteTable(
  'catalog_entries',
  {
    kind: text('kind', { enum: CATALOG_KINDS }).notNull(),
    id: text('id').notNull(),
    body: text('body', { mode: 'json' }).$type<CatalogEntry>().notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.kind, t.id] })],
)
