import { type AnyColumn, and, asc, desc, type SQL, sql } from 'drizzle-orm'
import type { SearchQuery } from '../contract/list-query.ts'
import type { ListSort } from '../contract/list-sorts.ts'
import type { ListPosition } from './rows-in-pieces.ts'

/** Columns by which a list is ordered, each followed by the id. */
export interface OrderedColumns {
  createdAt: AnyColumn
  id: AnyColumn
  name: AnyColumn
}

/** As an index on names has it. */
const byName = (name: AnyColumn) => sql`${name} COLLATE NOCASE`

/** Order of a list (PAG-21). */
export function orderOf({ createdAt, id, name }: OrderedColumns, sort: ListSort): SQL[] {
  if (sort === 'name') return [sql`${byName(name)}`, asc(id)]
  return sort === 'oldest' ? [asc(createdAt), asc(id)] : [desc(createdAt), desc(id)]
}

/** Whether a row is behind a position in that order; undefined without a position. */
export function isBehind({ createdAt, id, name }: OrderedColumns, sort: ListSort, after: ListPosition | null): SQL | undefined {
  if (after === null) return undefined
  // The first condition makes SQLite begin there in the index.
  const last = after.name ?? ''
  if (sort === 'name') return and(sql`${byName(name)} >= ${last}`, sql`(${byName(name)}, ${id}) > (${last}, ${after.id})`)
  const position = sql`(${after.createdAt}, ${after.id})`
  return sort === 'oldest' ? sql`(${createdAt}, ${id}) > ${position}` : sql`(${createdAt}, ${id}) < ${position}`
}

/** Conditions of a search by name; none for an empty one. */
export function searched(name: AnyColumn, { name: text = '' }: SearchQuery): SQL | undefined {
  return text === '' ? undefined : nameContains(name, text)
}

/** Position of a row in that order. */
export function positionOf(sort: ListSort, { createdAt, id, name }: { createdAt: number; id: string; name: string }): ListPosition {
  return sort === 'name' ? { createdAt, id, name } : { createdAt, id }
}

/** Whether a name contains a text; `A` to `Z` match `a` to `z` (PAG-20). No LIKE: D1 allows patterns of at most 50 bytes. */
export function nameContains(name: AnyColumn, text: string): SQL {
  return sql`instr(lower(${name}), lower(${text})) > 0`
}
