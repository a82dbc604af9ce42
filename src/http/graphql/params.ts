import { Problem } from '../../contract/problems.ts'

const JSON_TYPE = /^application\/json\s*(;|$)/i

/** The parameters of a GraphQL request (GQL-1). */
export interface GraphqlParams {
  query: string
  variables: Record<string, unknown>
  operationName?: string
}

/** Parses a body (GQL-1, GQL-6). It must hold one document (GQL-26); unknown members are ignored. Throws 400 or 415. */
export function readParams(type: string | undefined, text: string): GraphqlParams {
  if (type === undefined || !JSON_TYPE.test(type)) throw new Problem('unsupportedMediaType')
  const body = parse(text)
  if (Array.isArray(body)) throw new Problem('badRequest', { detail: 'send one document per request: batches are not supported' })
  if (typeof body !== 'object' || body === null) throw new Problem('badRequest', { detail: 'send a JSON object with a query' })
  const { query, variables, operationName } = body as Record<string, unknown>
  if (typeof query !== 'string' || query === '') throw new Problem('badRequest', { detail: 'query: want a GraphQL document' })
  if (variables !== undefined && variables !== null && (typeof variables !== 'object' || Array.isArray(variables))) {
    throw new Problem('badRequest', { detail: 'variables: want an object' })
  }
  const name = typeof operationName === 'string' && operationName !== '' ? { operationName } : {}
  return { query, variables: { ...variables }, ...name }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Problem('badRequest', { detail: 'the request body is not valid JSON', cause })
  }
}
