import { Problem } from '../../contract/problems.ts'
import type { Env } from '../../env.ts'
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
