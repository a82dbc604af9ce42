import { type ExecutionResult, GraphQLError } from 'graphql'
import { graphqlError } from '../../contract/problem-body.ts'
import { Problem } from '../../contract/problems.ts'
import { errorText } from '../../platform/error-text.ts'
import { logEvent } from '../../platform/log.ts'
import { bodyInPieces, jsonInPieces } from '../answer-in-pieces.ts'

const OK = 200
const BAD_REQUEST = 400
const SERVER_FAULT = 500

/**
 * Converts a result into a response: 200 once anything was executed (GQL-5), 400 for a document that was not executed (GQL-6). A server
 * error is logged; the client sees only the id of the request.
 */
export async function answerOf({ data, errors }: ExecutionResult, requestId: string): Promise<Response> {
  const body = {
    ...(errors && { errors: errors.map((error) => (data === undefined ? refusal(error) : undefined) ?? shownError(error, requestId)) }),
    ...(data !== undefined && { data }),
  }
  return new Response(await bodyInPieces(jsonInPieces(body)), {
    status: data === undefined ? BAD_REQUEST : OK,
    headers: { 'content-type': 'application/json' },
  })
}

/** The error entry for a fault that the library found in a document or its variables: nothing was executed. */
function refusal({ originalError: cause, message, locations }: GraphQLError) {
  if (cause !== undefined && !(cause instanceof GraphQLError)) return undefined
  return { message, ...(locations && { locations }), extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }
}

function shownError(error: GraphQLError, requestId: string) {
  const { originalError: cause, locations, path } = error
  const at = { ...(locations && { locations }), ...(path && { path }) }
  if (cause instanceof Problem && cause.status < SERVER_FAULT) return { ...graphqlError(cause), ...at }
  const problem = cause instanceof Problem ? cause : new Problem('internal', { cause })
  const fault = problem.cause ?? problem
  // The log would write an error of the library as the JSON for its client, which has no stack.
  logEvent('error', 'a field of GraphQL failed', { requestId, field: path?.join('.'), error: errorText(fault) })
  const shown = graphqlError(problem)
  return { ...shown, ...at, extensions: { ...shown.extensions, requestId } }
}
