import type { Next } from 'hono'
import { readSettings } from '../../env.ts'
import { logEvent, logs, setLogLevel } from '../../log.ts'
import type { AppContext } from '../app-env.ts'
import { type Surface, surfaceOf } from '../surface.ts'

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/
const SERVER_FAULT = 500

/** Gives the request its id and writes its log line. The job path skips all that it can: it is called for every job. */
export async function requestContext(c: AppContext, next: Next): Promise<void> {
  const surface = surfaceOf(c.req.path)
  const given = c.req.header('x-request-id')
  c.set('requestId', given !== undefined && REQUEST_ID.test(given) ? given : crypto.randomUUID())
  setLogLevel(readSettings(c.env).logLevel)
  const startedAtMs = Date.now()
  await next()
  // A switched protocol has no headers to add, and a queue's reply passes through untouched (API-12).
  if (surface !== 'jobs' && c.res.status !== 101) c.res.headers.set('X-Request-ID', c.var.requestId)
  writeLog(c, surface, startedAtMs)
}

function writeLog(c: AppContext, surface: Surface, startedAtMs: number): void {
  const { status } = c.res
  const level = status >= SERVER_FAULT ? 'error' : surface === 'jobs' ? 'debug' : 'info'
  if (!logs(level)) return
  logEvent(level, 'request', {
    requestId: c.var.requestId,
    method: c.req.method,
    path: c.req.path,
    status,
    durationMs: Date.now() - startedAtMs,
    teamId: c.var.principal?.teamId,
  })
}
