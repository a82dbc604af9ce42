import { type Reply, send } from '../harness.ts'

/** Calls to GraphQL with a key or none, as clients send them. */
export function graphql(key: string | null) {
  return async (query: string, variables?: Record<string, unknown> | null, headers: Record<string, string> = {}): Promise<Reply> => {
    const response = await send('/graphql', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(key !== null && { Authorization: `Bearer ${key}` }), ...headers },
      body: JSON.stringify({ query, ...(variables !== undefined && { variables }) }),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
}
