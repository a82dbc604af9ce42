import type { QueryKey } from '@tanstack/react-query'
import type { ApiClient } from '../../client/client.ts'
import { eachItem, type ItemOf, type Paged, type PageRequest } from '../../client/page.ts'
import { type Live, useLive } from './live.ts'

/** Largest page of the plane: most accounts have their list in one. */
const PAGE = 1_000

/** A whole list, page after page, for a choice among its items; only for kinds of which an account has few. */
export function useWhole<Answer extends Paged>(
  key: QueryKey,
  read: (api: ApiClient, query: PageRequest, signal: AbortSignal) => Promise<Answer>,
  options: { everyMs?: number } = {},
): Live<ItemOf<Answer>[]> {
  const readAll = async (api: ApiClient, signal: AbortSignal) => {
    const items: ItemOf<Answer>[] = []
    for await (const item of eachItem((query) => read(api, query, signal), PAGE)) items.push(item)
    return items
  }
  return useLive([...key, 'whole'], readAll, options)
}
