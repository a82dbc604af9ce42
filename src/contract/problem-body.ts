import { PROBLEMS, type Problem, type ProblemBody } from './problems.ts'

// The body of a problem in all its forms, for every isolate that refuses a request.

/** The form in which an API of the plane shows a problem. */
export type ProblemForm = 'rest' | 'jobApi' | 'openai' | 'v1' | 'graphql'

/** An answer as plain data, which is cheap to pass between isolates. */
export interface ProblemReply {
  status: number
  body: string
  headers: Record<string, string>
}

/** An error of `/openai/*`. */
export interface OpenaiError {
  status: number
  message: string
  type: string
  code: string | null
}

/**
 * Returns the answer for a problem. REST sends `application/problem+json` (ERR-1); the job API sends the same body as `application/json`,
 * because its clients parse without checking the type (API-3, API-6). `/openai/*` adds the members that its clients read (OAI-11), and API
 * v1 has only a message (LEG-2). GraphQL has a list of errors (GQL-5).
 */
export function problemReply(problem: Problem, form: ProblemForm): ProblemReply {
  const headers = { ...(problem.status === PROBLEMS.missingToken.status && { 'www-authenticate': 'Bearer' }), ...problem.headers }
  if (form === 'openai') return openaiReply(openaiError(problem.status, problem.detail), headers)
  if (form === 'v1') return { status: problem.status, body: v1Body(problem), headers: { ...headers, 'content-type': 'application/json' } }
  if (form === 'graphql') {
    const body = JSON.stringify({ errors: [graphqlError(problem)] })
    return { status: problem.status, body, headers: { ...headers, 'content-type': 'application/json' } }
  }
  const type = form === 'rest' ? 'application/problem+json' : 'application/json'
  return { status: problem.status, body: JSON.stringify(problemBody(problem)), headers: { ...headers, 'content-type': type } }
}

/** Returns the answer of `/openai/*` for an error of the plane or of a worker. */
export function openaiReply(error: OpenaiError, headers: Record<string, string> = {}): ProblemReply {
  return { status: error.status, body: openaiErrorBody(error), headers: { ...headers, 'content-type': 'application/json' } }
}

/** The detail and all locations in one string. */
function v1Body({ detail, errors = [] }: Problem): string {
  return JSON.stringify({ message: [detail, ...errors].join(' ') })
}

/** The JSON form of a problem, members in the order of ERR-1. */
export function problemBody(problem: Problem): ProblemBody {
  return {
    title: problem.title,
    status: problem.status,
    detail: problem.detail,
    ...(problem.errors && { errors: [...problem.errors] }),
    ...(problem.code !== undefined && { code: problem.code }),
  }
}

/** An error of the platform itself. Its type follows from the status, as in the OpenAI API. */
export function openaiError(status: number, message: string): OpenaiError {
  return { status, message, type: typeOf(status), code: null }
}

/** The `error` member of a reply, and the data of an error event, for OpenAI clients (OAI-7). */
export function openaiErrorMember(error: OpenaiError): string {
  return `{"message":${JSON.stringify(error.message)},"type":${JSON.stringify(error.type)},"code":${JSON.stringify(error.code)}}`
}

/** OAI-11: the body of an error reply for clients of either API: the member `error` for OpenAI clients, API-6 for the others. */
function openaiErrorBody(error: OpenaiError): string {
  const { status, message } = error
  const fallback = status < 500 ? PROBLEMS.badRequest : PROBLEMS.internal
  const { title } = Object.values(PROBLEMS).find((problem) => problem.status === status) ?? fallback
  return `{"error":${openaiErrorMember(error)},"title":${JSON.stringify(title)},"status":${status},"detail":${JSON.stringify(message)}}`
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 404) return 'not_found_error'
  if (status === 429) return 'rate_limit_error'
  return status < 500 ? 'invalid_request_error' : 'server_error'
}

const SERVER_FAULT = 500
/** Message prefixes that make GraphQL clients retry (GQL-7): temporary errors have them, and no others. */
const PASSING: Readonly<Record<number, string>> = { 429: 'too many requests', 500: 'internal server error', 503: 'service unavailable' }

/** An error of GraphQL. */
export interface GraphqlError {
  message: string
  /** `reasons`: why each host or type was rejected. */
  extensions?: { code: string; reasons?: string[] }
}

/**
 * Returns a problem in the form of GraphQL (GQL-4, GQL-5). The message contains everything, because clients read nothing else (GQL-7).
 * Clients compare the message of a lack of capacity with a known text, so its reasons are in `extensions` (GQL-73).
 */
export function graphqlError(problem: Problem): GraphqlError {
  const { status, title, detail, errors = [], code } = problem
  if (status === PROBLEMS.invalidToken.status) return { message: title }
  const isNoCapacity = code === 'NO_CAPACITY'
  const text = errors.length === 0 || isNoCapacity ? detail : `${detail.replace(/\.$/, '')}: ${errors.join('; ')}`
  const passing = PASSING[status]
  const isFault = status >= SERVER_FAULT
  const message = status === PROBLEMS.internal.status || passing === undefined ? (passing ?? text) : `${passing}: ${text}`
  const reasons = isNoCapacity && errors.length > 0 ? { reasons: [...errors] } : {}
  return { message, extensions: { code: isFault ? 'INTERNAL_SERVER_ERROR' : 'RUNPOD', ...reasons } }
}
