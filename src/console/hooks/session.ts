import { type QueryKey, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useSyncExternalStore } from 'react'
import type { ApiClient } from '../../client/client.ts'
import { ConnectionError } from '../../client/errors.ts'
import { readSession, type Session, type SignedIn } from '../../client/session.ts'
import { apiOf } from './api.ts'

const SESSION_KEY = ['session']
/** Retries of the session query after a connection error, before the error is shown. */
const MAX_RETRIES = 2
/** The chosen account belongs to a tab and is not in the address: a shared link opens with an account of its reader. */
const ACCOUNT_KEY = 'podplane.account'

/**
 * Session of the browser, with the available sign-in methods. Only the shell sets `everyMs` (refresh interval), on behalf of all pages,
 * since roles change and sessions end.
 */
export function useSession(everyMs?: number) {
  return useQuery<Session>({
    queryKey: SESSION_KEY,
    queryFn: ({ signal }) => readSession(location.origin, signal),
    // No page can be shown without the session, so a connection error is retried.
    retry: (failures, error) => error instanceof ConnectionError && failures < MAX_RETRIES,
    staleTime: 60_000,
    refetchInterval: everyMs ?? false,
  })
}

/** Returns a function that drops all data of the previous session and refreshes the session. */
export function useSessionChange(): () => Promise<void> {
  const queries = useQueryClient()
  return useCallback(async () => {
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
    await queries.invalidateQueries({ queryKey: SESSION_KEY })
  }, [queries])
}

/** Account that a page below the shell acts for. */
export interface Account {
  id: string | null
  name: string
  /** Scopes of the session in this account. */
  scopes: readonly string[]
}

/** Account that this tab acts for; updates as soon as the user chooses another one. */
export function useAccount(session: SignedIn): Account {
  return accountOf(session, useChosen())
}

function accountOf(session: SignedIn, chosen: string | null): Account {
  const found = session.accounts.find(({ id }) => id === chosen) ?? session.accounts.find(({ id }) => id === session.accountId)
  return found ?? { id: null, name: 'Operator', scopes: [] }
}

/** Sets the account that this tab acts for. */
export function chooseAccount(id: string): void {
  sessionStorage.setItem(ACCOUNT_KEY, id)
  for (const notify of watchers) notify()
}

const watchers = new Set<() => void>()

function useChosen(): string | null {
  return useSyncExternalStore(watch, () => sessionStorage.getItem(ACCOUNT_KEY))
}

function watch(notify: () => void): () => void {
  watchers.add(notify)
  return () => watchers.delete(notify)
}

interface Api {
  api: ApiClient
  account: Account
  isOperator: boolean
  may: (scope: string) => boolean
  /** Refreshes all data whose key starts with the given parts; called after a change. */
  refresh: (...key: QueryKey) => Promise<void>
}

/** API client of the chosen account, the rights of the session in it, and the refresh of its data. Throws an `Error` without a session. */
export function useApi(): Api {
  const { data } = useSession()
  const chosen = useChosen()
  const queries = useQueryClient()
  if (!data?.signedIn) throw new Error('a page that needs a session is shown without one')
  const account = accountOf(data, chosen)
  const refresh: Api['refresh'] = (...key) => queries.invalidateQueries({ queryKey: [account.id, ...key] })
  return { api: apiOf(account.id), account, isOperator: data.isOperator, may: (scope) => account.scopes.includes(scope), refresh }
}
