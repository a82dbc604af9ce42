import type { MiddlewareHandler } from 'hono'
import type { Capability, Scope } from '../../domain/access.ts'
import { requireScope } from '../../services/require-scope.ts'
import type { AppEnv } from '../app-env.ts'

/** The scope that a route documents, and the middleware that checks it. */
export interface RouteScope {
  scope: Scope | 'none'
  guards: MiddlewareHandler<AppEnv>[]
}

/**
 * Checks a scope before parameters and body are read (ERR-6). A scope that is bound to the resource in the path parameter `boundTo`
 * suffices, and so does the capability `enough` of that resource. The verb checks the scope again, for callers that reach it another way.
 */
export function scoped(scope: Scope, boundTo?: string, enough?: Capability): RouteScope {
  const needsScope: MiddlewareHandler<AppEnv> = async (c, next) => {
    requireScope(c.var.principal, scope, boundTo && c.req.param(boundTo), enough)
    await next()
  }
  return { scope, guards: [needsScope] }
}

/** A scope that only the verb checks, because not every caller needs it. */
export function scopedByVerb(scope: RouteScope['scope']): RouteScope {
  return { scope, guards: [] }
}
