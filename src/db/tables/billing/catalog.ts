import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { CATALOG_KINDS, type CatalogEntry } from '../../../domain/catalog/entries.ts'

/** The operator's entry for a GPU type, CPU flavor, data center or storage, which overrides the seed. */
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
