import { z } from 'zod'
import type { SearchQuery } from '../contract/list-query.ts'
import type { Pagination } from '../contract/pagination.ts'
import { Problem } from '../contract/problems.ts'
import { fromBase64, toBase64Url } from '../platform/encoding.ts'

const Cursor = z.tuple([z.string(), z.number().int(), z.string()], z.string())

/** Position of the end of a page: by age or, in order of names, by `name`, with the id to break ties. */
export interface ListPosition {
  createdAt: number
  id: string
  /** Only in a list in order of names. */
  name?: string
}

/**
 * Cuts a page out of rows that were read with one row more than `limit`; that row shows whether another page follows. `found` shows it when
 * the rows themselves were cut short, and `end` how far they were read then. `binding` names the operation and everything that shapes the list except `limit` (PAG-3).
 */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  binding: string,
  positionOf: (row: Row) => ListPosition,
  found = rows.length,
  end: ListPosition | null = null,
): { shown: Row[]; pagination: Pagination } {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const position = (rows.length > limit ? null : end) ?? (last ? positionOf(last) : null)
  const nextCursor = found > shown.length && position ? encodeCursor(binding, position) : null
  return { shown, pagination: { nextCursor, hasNextPage: nextCursor !== null } }
}

/** Returns how many of these rows a page may hold: at most `limit`, and at most `maxBytes` unless the first row alone is larger. */
export function rowsWithin(sizes: readonly number[], limit: number, maxBytes: number): number {
  let total = 0
  const first = sizes.slice(0, limit).findIndex((bytes, index) => {
    total += bytes
    return total > maxBytes && index > 0
  })
  return first < 0 ? limit : first
}

/** Binding of a list with search and order. Without them it is that of before, so that older cursors stay valid. */
export function searchBinding(binding: string, { name = '', sort = 'newest' }: SearchQuery): string {
  return name === '' && sort === 'newest' ? binding : `${binding} ${JSON.stringify([name, sort])}`
}

/** Returns the position of an opaque cursor; null for none. Throws 422 for a malformed cursor or one of another list (PAG-3). */
export function decodeCursor(binding: string, cursor: string | undefined): ListPosition | null {
  if (cursor === undefined) return null
  const parsed = Cursor.safeParse(parseBase64Json(cursor))
  if (!parsed.success || parsed.data[0] !== binding) {
    throw new Problem('validationFailed', { errors: ['$.cursor: not a cursor of this list'] })
  }
  const [, createdAt, id, name] = parsed.data
  return { createdAt, id, ...(name !== undefined && { name }) }
}

function encodeCursor(binding: string, { createdAt, id, name }: ListPosition): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify([binding, createdAt, id, ...(name === undefined ? [] : [name])])))
}

function parseBase64Json(text: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(fromBase64(text)))
  } catch {
    return undefined
  }
}
