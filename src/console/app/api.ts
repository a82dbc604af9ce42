import { type ApiClient, connect } from '../../client/client.ts'

const clients = new Map<string, ApiClient>()

/** The API as one account sees it; the cookie of the session goes along by itself. */
export function apiOf(accountId: string | null): ApiClient {
  const known = clients.get(accountId ?? '')
  if (known !== undefined) return known
  const made = connect({ url: location.origin, credentials: { accountId } })
  clients.set(accountId ?? '', made)
  return made
}
