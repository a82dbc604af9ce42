import { type QueryKey, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { ApiClient } from '../../client/client.ts'
import { useApi } from './session.ts'

/** Often enough to watch something start, seldom enough that an idle tab costs the plane little. */
const EVERY_MS = 5_000
/** How many looks may fail before what is shown is called old. */
const LOOKS_MISSED = 3

export interface Live<Data> {
  data: Data | undefined
  /** Of the last look. */
  error: Error | null
  /** What is shown is older than it should be. */
  isStale: boolean
  updatedAtMs: number
  refetch: () => void
}

interface LiveOptions<Data> {
  /** 0: it does not change by itself. By what was read: a look that asks for more is seldomer. */
  everyMs?: number | ((last: Data | undefined) => number)
  isEnabled?: boolean
}

/** Something that the API answers, looked at again while somebody sees it. `key` names it within the account. */
export function useLive<Data>(
  key: QueryKey,
  read: (api: ApiClient, signal: AbortSignal) => Promise<Data>,
  options: LiveOptions<Data> = {},
): Live<Data> {
  const { api, account } = useApi()
  const { everyMs: every = EVERY_MS, isEnabled = true } = options
  const everyOf = (last: Data | undefined) => (typeof every === 'number' ? every : every(last))
  const { data, error, dataUpdatedAt, refetch } = useQuery({
    queryKey: [account.id, ...key],
    queryFn: ({ signal }) => read(api, signal),
    // 0 is none.
    refetchInterval: ({ state }) => everyOf(state.data),
    enabled: isEnabled,
  })
  const everyMs = everyOf(data)
  const isOld = everyMs !== 0 && dataUpdatedAt > 0 && Date.now() - dataUpdatedAt > everyMs * LOOKS_MISSED
  return {
    data,
    error,
    isStale: data !== undefined && (error !== null || isOld),
    updatedAtMs: dataUpdatedAt,
    refetch: useCallback(() => void refetch(), [refetch]),
  }
}

/** Looks again at everything whose key begins so, after a change. */
export function useRefresh(): (...key: QueryKey) => Promise<void> {
  const queries = useQueryClient()
  const { account } = useApi()
  return useCallback((...key) => queries.invalidateQueries({ queryKey: [account.id, ...key] }), [queries, account.id])
}
