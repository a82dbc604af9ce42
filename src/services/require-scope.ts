import { Problem } from '../contract/problems.ts'
import { type Capability, hasScope, type Scope } from '../domain/access.ts'
import type { Principal } from './context.ts'

/** Refuses a caller whose key lacks the scope, for `id` alone or at all (AUT-3, AUT-5): 403 "access denied", and which one (PP-129). Every verb calls it first. */
export function requireScope(principal: Principal, scope: Scope, id?: string, enough?: Capability): void {
  if (!hasScope(principal.scopes, scope, id, enough)) throw lacksScope(scope)
}

/** The 403 for a scope (PP-129). */
export function lacksScope(scope: string): Problem {
  return new Problem('accessDenied', { errors: [`the key lacks the scope ${scope}`] })
}
