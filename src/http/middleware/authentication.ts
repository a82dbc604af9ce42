import type { Next } from 'hono'
import { Problem } from '../../contract/problems.ts'
import { authenticate, authenticateOperator } from '../../services/accounts/authenticate.ts'
import type { AppContext } from '../app-env.ts'
import { authenticationProblem } from '../authentication-problem.ts'
import { authorizationOf } from '../pod-doors/authorization.ts'
import { visitOf } from '../session-headers.ts'

/** Lets in callers with a good API key or session and sets `principal`; everyone else is answered at once (ERR-8). */
export async function requireCaller(c: AppContext, next: Next): Promise<void> {
  const visit = visitOf(c.req.raw, c.executionCtx)
  const result = await authenticate(c.env, authorizationOf(c.req.raw), Date.now(), visit)
  if (!result.ok) throw authenticationProblem(result)
  c.set('principal', result.principal)
  await next()
}

/** Lets in the operator alone (AUT-4a). */
export async function requireOperatorKey(c: AppContext, next: Next): Promise<void> {
  const problem = await authenticateOperator(c.env, c.req.header('authorization') ?? null)
  if (problem !== null) throw new Problem(problem)
  await next()
}
