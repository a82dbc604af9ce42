import { Problem } from '../contract/problems.ts'
import { hasScope, type Scope } from '../domain/access.ts'
import type { Principal } from './authenticate.ts'

/** Refuses a caller whose key lacks the scope (AUT-5): 403 "access denied". Every verb calls it first. */
export function requireScope(principal: Principal, scope: Scope): void {
  if (!hasScope(principal.scopes, scope)) throw new Problem('accessDenied')
}
