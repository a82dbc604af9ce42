import { Problem } from '../../contract/problems.ts'
import { MAX_REQUEST_HEADER_BYTES } from '../../domain/balancer/headers.ts'
import type { Env } from '../../env.ts'
import { MAX_HEADERS, MAX_PATH_CHARS } from '../../host-protocol/tunnel/frames.ts'
import { logEvent } from '../../platform/log.ts'
import { toProblem } from './problem-response.ts'
import { requestIdOf, withRequestId } from './request-id.ts'

/** A request for a workload: it comes before any router. */
export interface Incoming {
  request: Request
  url: URL
  env: Env
  ctx: ExecutionContext
}

/** The same under the id that the workload, the client and the log are told. */
export interface Serving extends Incoming {
  requestId: string
}

interface Workload {
  /** What the log calls it. */
  what: 'worker' | 'pod'
  /** Whose it is, for the log. */
  of: Readonly<Record<string, string>>
  refuse(problem: Problem): Response
}

/** Serves a request for a workload. What goes wrong is answered under the same id (PP-291), and logged where it is a fault of ours. */
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

/** The refusal of a request whose headers are more than a workload is sent (NET-53). */
export function tooManyHeaders(): Problem {
  return new Problem('badRequest', {
    detail: `the request has more than ${MAX_HEADERS} headers, or more than ${MAX_REQUEST_HEADER_BYTES / 1024} KiB of them, with those that the plane adds`,
  })
}

/** Throws 400 for a path that no workload is sent (NET-53). */
export function requirePath(path: string): void {
  if (path.length > MAX_PATH_CHARS)
    throw new Problem('badRequest', { detail: `the path and the query are longer than ${MAX_PATH_CHARS} characters` })
}
