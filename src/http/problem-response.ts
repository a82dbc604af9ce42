import { HTTPException } from 'hono/http-exception'
import { Problem, type ProblemKey, problemBody } from '../contract/problems.ts'
import { openaiError, openaiErrorBody } from '../domain/openai/error.ts'

/**
 * The one place that writes a problem. REST sends `application/problem+json` (ERR-1); the job API sends the same body as plain
 * `application/json`, because its clients parse without looking at the type (API-3, API-6). `/openai/*` adds what its clients read (PP-42).
 */
export function problemResponse(
  problem: Problem,
  { jobApi = false, openai = false }: { jobApi?: boolean; openai?: boolean } = {},
): Response {
  const body = openai ? openaiErrorBody(openaiError(problem.status, problem.detail)) : JSON.stringify(problemBody(problem))
  return new Response(body, {
    status: problem.status,
    headers: {
      ...(problem.status === 401 && { 'WWW-Authenticate': 'Bearer' }),
      ...problem.headers,
      'Content-Type': jobApi ? 'application/json' : 'application/problem+json',
    },
  })
}

/** Statuses that the framework itself throws, and what they mean here. */
const FRAMEWORK_PROBLEMS: Readonly<Record<number, ProblemKey>> = {
  400: 'badRequest',
  401: 'invalidToken',
  404: 'pathNotFound',
  405: 'methodNotAllowed',
  413: 'payloadTooLarge',
  415: 'unsupportedMediaType',
}

/** Any thrown value as a problem. An unknown error is a fault of ours: 500, its text kept for the log only. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof HTTPException) return new Problem(FRAMEWORK_PROBLEMS[error.status] ?? 'internal', { cause: error })
  return new Problem('internal', { cause: error })
}
