import { Problem } from '../contract/problems.ts'
import { type Capability, hasScope, type Scope } from '../domain/access.ts'
import type { Principal } from './context.ts'

/**
 * Throws 403 "access denied" with the missing scope (ERR-21) when the key lacks the scope, for `id` only or in general (AUT-3, AUT-5).
 * Every operation calls it first.
 */
export function requireScope(principal: Principal, scope: Scope, id?: string, enough?: Capability): void {
  if (!hasScope(principal.scopes, scope, id, enough)) throw lacksScope(principal, scope)
}

/** Returns the 403 for a missing scope (ERR-21). */
export function lacksScope({ via }: Pick<Principal, 'via'>, scope: string): Problem {
  return new Problem('accessDenied', { errors: [`the ${via === 'SESSION' ? 'session' : 'key'} lacks the scope ${scope}`] })
}
