/** Orders of a list; the first is the default (PAG-21). */
export const LIST_SORTS = ['newest', 'oldest', 'name'] as const
/** Order of a list. */
export type ListSort = (typeof LIST_SORTS)[number]
