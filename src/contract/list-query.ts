/** Query parameters that lists share: search by name, and order (PAG-20, PAG-21). */
import { z } from 'zod'
import { MAX_NAME_LENGTH } from './fields.ts'

/** Orders of a list; the first is the default. */
export const LIST_SORTS = ['newest', 'oldest', 'name'] as const
/** Order of a list. */
export type ListSort = (typeof LIST_SORTS)[number]

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

/** A list in a query, which a client sends as a repeated parameter. */
export function repeated<Item extends z.ZodType>(item: Item, max: number) {
  return z.preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(item).max(max))
}
