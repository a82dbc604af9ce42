import { z } from 'zod'
import { queryInteger } from './query-values.ts'

/** Largest and default page (PAG-2). */
export const MAX_PAGE_SIZE = 1000

export const Pagination = z
  .object({
    nextCursor: z.string().nullable().meta({ description: 'Send it as `cursor` to read the next page; null on the last one.' }),
    hasNextPage: z.boolean(),
  })
  .meta({ id: 'Pagination', example: { nextCursor: null, hasNextPage: false } })
export type Pagination = z.infer<typeof Pagination>

/** Pagination of a list that is always one page (PAG-6). */
export const WHOLE_PAGE: Pagination = { nextCursor: null, hasNextPage: false }

/** Query of a paginated list (PAG-2, PAG-3).  */
export const PageQuery = z.object({
  limit: queryInteger(1, MAX_PAGE_SIZE, MAX_PAGE_SIZE).meta({ description: 'Page size.', param: { name: 'limit', in: 'query' } }),
  cursor: z.string().min(1).optional().meta({ description: 'Opaque position from a page of the same list.' }),
})
