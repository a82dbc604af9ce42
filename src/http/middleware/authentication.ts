import type { Next } from 'hono'
import { authenticate, identifyOperator } from '../../services/authenticate.ts'
import type { AppContext } from '../app-env.ts'
import { authenticationProblem } from '../callers/authentication-problem.ts'
import { credentialOf } from '../callers/console-credential.ts'
import { visitOf } from '../callers/session-headers.ts'

/** Admits callers with a valid API key or session and sets `principal`; every other request is refused here (ERR-8). */
export async function requireCaller(c: AppContext, next: Next): Promise<void> {
  const visit = visitOf(c.req.raw, c.executionCtx)
  const result = await authenticate(c.env, credentialOf(c.req.raw), Date.now(), visit)
  if (!result.ok) throw authenticationProblem(result)
  c.set('principal', result.principal)
  await next()
}

/** Admits operators only, by key or session (AUT-4a, SESSION-13), and sets `operator`. Throws 401, 403 or 429 for all others. */
export async function requireOperator(c: AppContext, next: Next): Promise<void> {
  const result = await identifyOperator(c.env, credentialOf(c.req.raw), Date.now(), visitOf(c.req.raw, c.executionCtx))
  if (!result.ok) throw authenticationProblem(result)
  c.set('operator', result.operator)
  await next()
}
