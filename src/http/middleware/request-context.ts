import type { Next } from 'hono'
import { logEvent, logs } from '../../platform/log.ts'
import type { Operator, Principal } from '../../services/context.ts'
import { REQUEST_ID_HEADER, requestIdOf } from '../answers/request-id.ts'
import type { AppContext } from '../app-env.ts'
import { markPrivate } from '../callers/console-credential.ts'
import { answerNotModified } from '../callers/not-modified.ts'
import { ACCOUNT_HEADER, accountToName } from '../callers/session-headers.ts'

const SERVER_FAULT = 500
/** Monitors request this path every few seconds, so it is not logged. */
const QUIET_PATH = '/healthz'

/** Sets the id of the request and writes its log line. */
export async function requestContext(c: AppContext, next: Next): Promise<void> {
  c.set('requestId', requestIdOf(c.req.raw))
  const startedAtMs = Date.now()
  await next()
  // Headers of a 101 response cannot be extended.
  if (c.res.status !== 101) {
    c.res.headers.set(REQUEST_ID_HEADER, c.var.requestId)
    c.res.headers.set('X-Content-Type-Options', 'nosniff')
    const account = accountToName(principalOf(c))
    if (account !== null) c.res.headers.set(ACCOUNT_HEADER, account)
    if (isKnown(c)) {
      markPrivate(c.req.raw, c.res.headers)
      await answerNotModified(c)
    }
  }
  writeLog(c, startedAtMs)
}

function writeLog(c: AppContext, startedAtMs: number): void {
  const { status } = c.res
  const level = status >= SERVER_FAULT ? 'error' : c.req.path === QUIET_PATH ? 'debug' : 'info'
  if (!logs(level)) return
  logEvent(level, 'request', {
    requestId: c.var.requestId,
    method: c.req.method,
    path: c.req.path,
    status,
    durationMs: Date.now() - startedAtMs,
    teamId: principalOf(c)?.teamId,
  })
}

function isKnown(c: AppContext): boolean {
  return principalOf(c) !== undefined || (c.var.operator as Operator | undefined) !== undefined
}

/** Undefined on a route without a key check, although the type says otherwise. */
function principalOf(c: AppContext): Principal | undefined {
  return c.var.principal as Principal | undefined
}
