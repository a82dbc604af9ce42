import { PROBLEMS, type Problem, type ProblemBody } from './problems.ts'

// The body of a problem in all its forms: whoever refuses a request, in whatever isolate, writes one of these.

/** How a surface of the plane shows a problem. */
export type ProblemForm = 'rest' | 'jobApi' | 'openai' | 'v1' | 'graphql'

/** An answer as plain data, which crosses isolates cheaply. */
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
 * The answer that a problem is. REST sends `application/problem+json` (ERR-1); the job API sends the same body as plain `application/json`,
 * because its clients parse without looking at the type (API-3, API-6). `/openai/*` adds what its clients read (PP-42), and API v1 knows a
 * message alone (LEG-2). GraphQL has a list of errors (GQL-5).
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

/** The answer of `/openai/*` that an error is, its own or a worker's. */
export function openaiReply(error: OpenaiError, headers: Record<string, string> = {}): ProblemReply {
  return { status: error.status, body: openaiErrorBody(error), headers: { ...headers, 'content-type': 'application/json' } }
}

/** What went wrong and where, in one text. */
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

/** An error of the platform itself. The type follows from the status, as with the original API. */
export function openaiError(status: number, message: string): OpenaiError {
  return { status, message, type: typeOf(status), code: null }
}

/** What clients of that API read from an error: the reply's `error` member, and the data of an event (OAI-7). */
export function openaiErrorMember(error: OpenaiError): string {
  return `{"message":${JSON.stringify(error.message)},"type":${JSON.stringify(error.type)},"code":${JSON.stringify(error.code)}}`
}

/** PP-42: the body of an error reply, for clients of either API: `error` for the one, API-6 for the other. */
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
/** Words that a client of GraphQL takes for a reason to ask again (GQL-7): they lead the messages of what passes, and no others. */
const PASSING: Readonly<Record<number, string>> = { 429: 'too many requests', 500: 'internal server error', 503: 'service unavailable' }

/** An error of GraphQL. */
export interface GraphqlError {
  message: string
  /** `reasons`: why each machine or type was not taken. */
  extensions?: { code: string; reasons?: string[] }
}

/**
 * A problem as clients of GraphQL read one (GQL-4, GQL-5): the message says all, because they read nothing else (GQL-7). That there is no
 * capacity they compare with the text that they know, so its reasons stand beside it (GQL-73).
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
