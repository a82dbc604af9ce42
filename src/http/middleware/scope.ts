import type { MiddlewareHandler } from 'hono'
import type { Scope } from '../../domain/access.ts'
import { requireScope } from '../../services/require-scope.ts'
import type { AppEnv } from '../app-env.ts'

/** Checks the scope before parameters and body are read (ERR-6). The verb checks it again, for callers that come another way. */
export function needsScope(scope: Scope): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    requireScope(c.var.principal, scope)
    await next()
  }
}
