import { HTTPException } from 'hono/http-exception'
import { type ProblemForm, problemReply } from '../../contract/problem-body.ts'
import { Problem, type ProblemKey } from '../../contract/problems.ts'
import { isStorageFull } from '../../domain/plane/storage-faults.ts'
import { isFullNow } from '../../effects/storage.ts'
import type { Env } from '../../env.ts'
import { logEvent } from '../../platform/log.ts'
import type { AppContext } from '../app-env.ts'

const SERVER_FAULT = 500

/** Builds the response for a problem, with the body and headers of `contract/problem-body.ts`. */
export function problemResponse(problem: Problem, form: ProblemForm = 'rest'): Response {
  const { status, body, headers } = problemReply(problem, form)
  return new Response(body, { status, headers })
}

/** Problems for the statuses that the framework itself throws. */
const FRAMEWORK_PROBLEMS: Readonly<Record<number, ProblemKey>> = {
  400: 'badRequest',
  401: 'invalidToken',
  404: 'pathNotFound',
  405: 'methodNotAllowed',
  413: 'payloadTooLarge',
  415: 'unsupportedMediaType',
}

/** Converts any thrown value into a problem. An unknown error becomes 500; its text goes to the log only. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (isStorageFull(error)) return storageFull(error)
  if (error instanceof HTTPException) return new Problem(FRAMEWORK_PROBLEMS[error.status] ?? 'internal', { cause: error })
  return new Problem('internal', { cause: error })
}

/** The 503 refusal of a write when the disk is full (PLANE-12). `Retry-After` is 30 s, because an operator needs minutes to free space. */
export function storageFull(cause?: unknown): Problem {
  return new Problem('storageFull', { code: 'STORAGE_FULL', headers: { 'retry-after': '30' }, cause })
}

/**
 * Like `toProblem`, but a server error while the disk is full is reported as a full disk, because storage does not always say why it
 * failed. The check also releases the reserve of a full disk.
 */
export async function toProblemOf(env: Env, error: unknown): Promise<Problem> {
  const problem = toProblem(error)
  const mayBeDisk = problem.status === SERVER_FAULT || isStorageFull(error)
  return mayBeDisk && (await isFullNow(env)) ? storageFull(error) : problem
}

/** Answers with whatever was thrown while a request was served, and logs server errors. */
export async function failureResponse(c: AppContext, error: unknown, form?: ProblemForm): Promise<Response> {
  const problem = await toProblemOf(c.env, error)
  if (problem.status >= SERVER_FAULT) {
    logEvent('error', 'request failed', {
      requestId: c.var.requestId,
      method: c.req.method,
      path: c.req.path,
      error: problem.cause ?? problem,
    })
  }
  return problemResponse(problem, form)
}
