import { Problem } from '../../contract/problems.ts'
import { MAX_REQUEST_HEADER_BYTES } from '../../domain/balancer/headers.ts'
import type { Env } from '../../env.ts'
import { MAX_HEADERS, MAX_PATH_CHARS } from '../../host-protocol/tunnel/frames.ts'
import { logEvent } from '../../platform/log.ts'
import { toProblem } from './problem-response.ts'
import { requestIdOf, withRequestId } from './request-id.ts'

/** A request for a workload, handled before the router. */
export interface Incoming {
  request: Request
  url: URL
  env: Env
  ctx: ExecutionContext
}

/** Such a request with the id that the workload, the client and the log receive. */
export interface Serving extends Incoming {
  requestId: string
}

interface Workload {
  /** The kind of workload, as the log names it. */
  what: 'worker' | 'pod'
  /** Ids of the workload's owner, for the log. */
  of: Readonly<Record<string, string>>
  refuse(problem: Problem): Response
}

/** Serves a request for a workload. A failure is answered with the same request id (API-31), and logged if it is a server error. */
export async function answerOfWorkload(
  incoming: Incoming,
  { what, of, refuse }: Workload,
  serve: (serving: Serving) => Promise<Response>,
): Promise<Response> {
  const requestId = requestIdOf(incoming.request)
  try {
    return withRequestId(await serve({ ...incoming, requestId }), requestId)
  } catch (error) {
    if (!(error instanceof Problem)) logEvent('error', `request to a ${what} failed`, { requestId, ...of, error })
    return withRequestId(refuse(toProblem(error)), requestId)
  }
}

/** 400 for a request with more headers than a workload receives (NET-53). */
export function tooManyHeaders(): Problem {
  return new Problem('badRequest', {
    detail: `the request has more than ${MAX_HEADERS} headers or more than ${MAX_REQUEST_HEADER_BYTES / 1024} KiB of headers, including those that the plane adds`,
  })
}

/** Throws 400 for a path that is longer than a workload receives (NET-53). */
export function requirePath(path: string): void {
  if (path.length > MAX_PATH_CHARS)
    throw new Problem('badRequest', { detail: `the path and the query are longer than ${MAX_PATH_CHARS} characters` })
}
