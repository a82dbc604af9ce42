import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useSyncExternalStore } from 'react'
import type { ApiClient } from '../../client/client.ts'
import { ConnectionError } from '../../client/errors.ts'
import { readSession, type Session, type SignedIn } from '../../client/session.ts'
import { apiOf } from './api.ts'

const SESSION_KEY = ['session']
/** Looks at the session that may get no answer before that is shown. */
const MOST_LOOKS = 2
/** The chosen account is part of a tab, not of the address: a link that is passed on opens with the reader's own. */
const ACCOUNT_KEY = 'podplane.account'

/** Who is signed in, and how one may sign in. `everyMs`: for the one part that looks again for all, since roles change and sessions end. */
export function useSession(everyMs?: number) {
  return useQuery<Session>({
    queryKey: SESSION_KEY,
    queryFn: ({ signal }) => readSession(location.origin, signal),
    // Without it there is no page at all.
    retry: (failures, error) => error instanceof ConnectionError && failures < MOST_LOOKS,
    staleTime: 60_000,
    refetchInterval: everyMs ?? false,
  })
}

/** Forgets what the last session has read, and looks again who is signed in. */
export function useSessionChange(): () => Promise<void> {
  const queries = useQueryClient()
  return useCallback(async () => {
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
    await queries.invalidateQueries({ queryKey: SESSION_KEY })
  }, [queries])
}

/** What a page below the shell may take for granted. */
export interface Account {
  id: string | null
  name: string
  /** What the session may do in it. */
  scopes: readonly string[]
}

/** The account that this tab acts for; another one is shown as soon as it is chosen. */
export function useAccount(session: SignedIn): Account {
  return accountOf(session, useChosen())
}

function accountOf(session: SignedIn, chosen: string | null): Account {
  const found = session.accounts.find(({ id }) => id === chosen) ?? session.accounts.find(({ id }) => id === session.accountId)
  return found ?? { id: null, name: 'Operator', scopes: [] }
}

export function chooseAccount(id: string): void {
  sessionStorage.setItem(ACCOUNT_KEY, id)
  for (const tell of watchers) tell()
}

const watchers = new Set<() => void>()

function useChosen(): string | null {
  return useSyncExternalStore(watch, () => sessionStorage.getItem(ACCOUNT_KEY))
}

function watch(tell: () => void): () => void {
  watchers.add(tell)
  return () => watchers.delete(tell)
}

/** The API as the account that is acted for sees it, and what the session may do. */
export function useApi(): { api: ApiClient; account: Account; isOperator: boolean; may: (scope: string) => boolean } {
  const { data } = useSession()
  const chosen = useChosen()
  if (!data?.signedIn) throw new Error('a page that needs a session is shown without one')
  const account = accountOf(data, chosen)
  return { api: apiOf(account.id), account, isOperator: data.isOperator, may: (scope) => account.scopes.includes(scope) }
}
