import type { MiddlewareHandler } from 'hono'
import type { Capability, Scope } from '../../domain/access.ts'
import { requireScope } from '../../services/require-scope.ts'
import type { AppEnv } from '../app-env.ts'

/**
 * Checks the scope before parameters and body are read (ERR-6). A scope that is bound to the resource in the path parameter `boundTo`
 * suffices, and so does the capability `enough` of that resource. The verb checks the scope again, for callers that reach it another way.
 */
function needsScope(scope: Scope, boundTo?: string, enough?: Capability): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    requireScope(c.var.principal, scope, boundTo && c.req.param(boundTo), enough)
    await next()
  }
}

/**
 * Returns the scope of a route, both for its document (`x-scope`) and as its check; `more` is middleware after the check. `boundTo` and
 * `enough` are as in `needsScope`.
 */
export function scoped<Name extends Scope, More extends MiddlewareHandler<AppEnv>[]>(
  scope: Name,
  more: [...More],
  boundTo?: string,
  enough?: Capability,
) {
  const middleware: [MiddlewareHandler<AppEnv>, ...More] = [needsScope(scope, boundTo, enough), ...more]
  return { 'x-scope': scope, middleware }
}
