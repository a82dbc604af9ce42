/** Query parameters that lists share: search by name, and order (PAG-20, PAG-21). */
import { z } from 'zod'
import { MAX_NAME_LENGTH, wholeNumber } from './fields.ts'
import { LIST_SORTS, type ListSort } from './list-sorts.ts'
import { PageQuery } from './pagination.ts'

/** Search and order of a list. */
export const listQueryFields = {
  name: z
    .string()
    .max(MAX_NAME_LENGTH)
    .optional()
    .meta({
      description: 'Only those whose name contains this text; `A` to `Z` match `a` to `z`.',
      param: { name: 'name', in: 'query' },
      example: 'train',
    }),
  sort: z
    .enum(LIST_SORTS)
    .optional()
    .meta({ description: 'Order; by default the newest first.', param: { name: 'sort', in: 'query' }, example: 'name' }),
}

/** `include=COUNTS` of a list without statuses. */
export const countsQueryFields = {
  include: z
    .enum(['COUNTS'])
    .optional()
    .meta({ description: 'Adds `counts`, whatever the list is filtered by.', param: { name: 'include', in: 'query' } }),
}

export const ListCounts = z
  .object({ total: wholeNumber(0) })
  .meta({ id: 'ListCounts', description: 'Counts of all items of the account, whatever the list is filtered by.', example: { total: 3 } })
export type ListCounts = z.infer<typeof ListCounts>

/** Counts in the answer of a list. */
export const countsField = { counts: ListCounts.optional().meta({ description: 'Only with `include=COUNTS`.' }) }

/** Query of a list with pages, search and order. */
export const SearchedPageQuery = PageQuery.extend({ ...listQueryFields, ...countsQueryFields })
/** Page, search and order of a list, as its verb gets them. */
export interface SearchedPage {
  limit: number
  cursor?: string | undefined
  name?: string | undefined
  sort?: ListSort | undefined
  include?: 'COUNTS' | undefined
}

/** Query of a complete list. */
export const SearchQuery = z.object(listQueryFields)
export type SearchQuery = z.infer<typeof SearchQuery>

/** A list in a query, which a client sends as a repeated parameter. */
export function repeated<Item extends z.ZodType>(item: Item, max: number) {
  return z.preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(item).max(max))
}
