import type { MiddlewareHandler } from 'hono'
import type { Capability, Scope } from '../../domain/access.ts'
import { requireScope } from '../../services/require-scope.ts'
import type { AppEnv } from '../app-env.ts'

/**
 * Checks the scope before parameters and body are read (ERR-6); one bound to the resource that the path parameter `boundTo` names is enough,
 * and so is the capability `enough` of that resource.
 * The verb checks it again, for callers that come another way.
 */
function needsScope(scope: Scope, boundTo?: string, enough?: Capability): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    requireScope(c.var.principal, scope, boundTo && c.req.param(boundTo), enough)
    await next()
  }
}

/**
 * The scope of a route, as its document says it (`x-scope`) and as it is checked; `more` comes behind the check. `boundTo` as with `needsScope`.
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
