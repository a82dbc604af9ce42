import type { MiddlewareHandler } from 'hono'
import type { Scope } from '../../domain/access.ts'
import { requireScope } from '../../services/require-scope.ts'
import type { AppEnv } from '../app-env.ts'

/**
 * Checks the scope before parameters and body are read (ERR-6); one bound to the resource that the path parameter `boundTo` names is enough.
 * The verb checks it again, for callers that come another way.
 */
export function needsScope(scope: Scope, boundTo?: string): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    requireScope(c.var.principal, scope, boundTo && c.req.param(boundTo))
    await next()
  }
}
