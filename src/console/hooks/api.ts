import { type ApiClient, connect } from '../../client/client.ts'

const clients = new Map<string, ApiClient>()

/** API client that acts for one account (cached per account); the browser sends the session cookie with each request. */
export function apiOf(accountId: string | null): ApiClient {
  const known = clients.get(accountId ?? '')
  if (known !== undefined) return known
  const made = connect({ url: location.origin, credentials: { accountId } })
  clients.set(accountId ?? '', made)
  return made
}
