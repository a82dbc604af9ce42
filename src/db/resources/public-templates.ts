import { desc, type SQL, sql } from 'drizzle-orm'
import type { TemplateSource } from '../../contract/catalog/query.ts'
import type { TemplateConfig } from '../../domain/resources/record.ts'
import type { Records } from '../client.ts'
import { isOneOf } from '../one-of.ts'
import { catalogEntries, templates } from '../schema.ts'
import { toTemplate } from './templates.ts'

/** Public templates of one source (CAT-6), newest first: at most `limit`, with a total size of at most `maxBytes`. */
export async function listPublicTemplates(db: Records, source: TemplateSource, limit: number, maxBytes: number): Promise<TemplateConfig[]> {
  // A literal, because with a bound value SQLite would not use the partial index.
  const where = sql`${templates.isPublic} = 1 AND ${ofSource(source)}`
  const newestFirst = [desc(templates.createdAt), desc(templates.id)]
  const bytes = sql<number>`octet_length(${templates.config})`
  const sizes = await db
    .select({ id: templates.id, bytes })
    .from(templates)
    .where(where)
    .orderBy(...newestFirst)
    .limit(limit)
  let total = 0
  const fitting = sizes.filter((row) => {
    total += row.bytes
    return total <= maxBytes
  })
  const ids = fitting.map(({ id }) => id)
  const rows = await db
    .select()
    .from(templates)
    .where(sql`${where} AND ${isOneOf(templates.id, ids)}`)
    .orderBy(...newestFirst)
  return rows.map((row) => toTemplate(db.vault, row))
}

function ofSource(source: TemplateSource): SQL {
  const publishers = sql`SELECT ${catalogEntries.id} FROM ${catalogEntries} WHERE ${catalogEntries.kind} = 'PUBLISHER'`
  if (source === 'community') return sql`${templates.teamId} NOT IN (${publishers})`
  return sql`${templates.teamId} IN (${publishers} AND json_extract(${catalogEntries.body}, '$.source') = ${source})`
}
