import { HTTPException } from 'hono/http-exception'
import { type ProblemForm, problemReply } from '../../contract/problem-body.ts'
import { Problem, type ProblemKey } from '../../contract/problems.ts'
import { isStorageFull } from '../../domain/plane/storage-faults.ts'
import { isFullNow } from '../../effects/storage.ts'
import type { Env } from '../../env.ts'
import { logEvent } from '../../platform/log.ts'
import type { AppContext } from '../app-env.ts'

const SERVER_FAULT = 500

/** A problem as the response of a surface. Its body and headers are those of `contract/problem-body.ts`, as everywhere. */
export function problemResponse(problem: Problem, form: ProblemForm = 'rest'): Response {
  const { status, body, headers } = problemReply(problem, form)
  return new Response(body, { status, headers })
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
  if (isStorageFull(error)) return storageFull(error)
  if (error instanceof HTTPException) return new Problem(FRAMEWORK_PROBLEMS[error.status] ?? 'internal', { cause: error })
  return new Problem('internal', { cause: error })
}

/** The refusal of a write that has no room (PLC-3). An operator makes room in minutes rather than seconds. */
export function storageFull(cause?: unknown): Problem {
  return new Problem('storageFull', { code: 'STORAGE_FULL', headers: { 'retry-after': '30' }, cause })
}

/** As `toProblem`, but a fault of ours on a full disk is the disk's: storage does not always say why it failed. The disk gets its reserve. */
export async function toProblemOf(env: Env, error: unknown): Promise<Problem> {
  const problem = toProblem(error)
  const mayBeDisk = problem.status === SERVER_FAULT || isStorageFull(error)
  return mayBeDisk && (await isFullNow(env)) ? storageFull(error) : problem
}

/** Whatever was thrown while a request was served, as its answer; what is a fault of ours is logged. */
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
