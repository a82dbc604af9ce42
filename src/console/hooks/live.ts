import { type QueryKey, useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { ApiClient } from '../../client/client.ts'
import { useApi } from './session.ts'

/** Refresh interval: short enough to watch a start, long enough that an idle tab costs the plane little. */
const EVERY_MS = 5_000
/** Refresh intervals without new data after which the view is marked as stale. */
const REFRESHES_MISSED = 3

/** Data that is refreshed while a page is open; undefined while it loads. */
export interface Live<Data> {
  data: Data | undefined
  /** Error of the last refresh. */
  error: Error | null
  /** Whether the data is older than its refresh interval allows, or its last refresh failed. */
  isStale: boolean
  updatedAtMs: number
  refetch: () => void
}

interface LiveOptions<Data> {
  /** Refresh interval, milliseconds; 0 turns refreshing off. A function sets it from the last data: a larger read repeats less often. */
  everyMs?: number | ((last: Data | undefined) => number)
  isEnabled?: boolean
  /** Whether the data of the previous key is shown while that of another one loads, so that a filter does not empty the page. */
  keepsLast?: boolean
}

/** Data of the API, refreshed while the tab is visible. `key` identifies it within the account. */
export function useLive<Data>(
  key: QueryKey,
  read: (api: ApiClient, signal: AbortSignal) => Promise<Data>,
  options: LiveOptions<Data> = {},
): Live<Data> {
  const { api, account } = useApi()
  const { everyMs: every = EVERY_MS, isEnabled = true, keepsLast = false } = options
  const everyOf = (last: Data | undefined) => (typeof every === 'number' ? every : every(last))
  const lastOfAccount = <Last>(last: Last | undefined, query: { queryKey: QueryKey } | undefined) =>
    query?.queryKey[0] === account.id ? last : undefined
  const { data, error, dataUpdatedAt, refetch } = useQuery({
    queryKey: [account.id, ...key],
    queryFn: ({ signal }) => read(api, signal),
    // The query library takes 0 as no interval.
    refetchInterval: ({ state }) => everyOf(state.data),
    enabled: isEnabled,
    ...(keepsLast && { placeholderData: lastOfAccount }),
  })
  const everyMs = everyOf(data)
  const isOld = everyMs !== 0 && dataUpdatedAt > 0 && Date.now() - dataUpdatedAt > everyMs * REFRESHES_MISSED
  return {
    data,
    error,
    isStale: data !== undefined && (error !== null || isOld),
    updatedAtMs: dataUpdatedAt,
    refetch: useCallback(() => void refetch(), [refetch]),
  }
}
