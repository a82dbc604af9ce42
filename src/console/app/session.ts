import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { ApiClient } from '../../client/client.ts'
import { readSession, type Session, type SignedIn } from '../../client/session.ts'
import { apiOf } from './api.ts'

const SESSION_KEY = ['session']
/** The chosen account is part of a tab, not of the address: a link that is passed on opens with the reader's own. */
const ACCOUNT_KEY = 'podplane.account'

/** Who is signed in, and how one may sign in. */
export function useSession() {
  return useQuery<Session>({
    queryKey: SESSION_KEY,
    queryFn: ({ signal }) => readSession(location.origin, signal),
    staleTime: 60_000,
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

export function chosenAccount(session: SignedIn): Account {
  const chosen = sessionStorage.getItem(ACCOUNT_KEY)
  const found = session.accounts.find(({ id }) => id === chosen) ?? session.accounts.find(({ id }) => id === session.accountId)
  return found ?? { id: null, name: 'Operator', scopes: [] }
}

export function chooseAccount(id: string): void {
  sessionStorage.setItem(ACCOUNT_KEY, id)
}

/** The API as the account that is acted for sees it, and what the session may do. */
export function useApi(): { api: ApiClient; account: Account; isOperator: boolean; may: (scope: string) => boolean } {
  const { data } = useSession()
  if (!data?.signedIn) throw new Error('a page that needs a session is shown without one')
  const account = chosenAccount(data)
  return { api: apiOf(account.id), account, isOperator: data.isOperator, may: (scope) => account.scopes.includes(scope) }
}
