import type { Permission } from '../contract/enums.ts'
import { hasScope, type Role, type Scope, scopesOf, scopesWithin } from './access.ts'

/** What a key is asked to grant. */
export interface Grant {
  permission: Permission
  scopes: readonly string[]
}

/**
 * The first scope that somebody would hand on with a key without holding it (TEAM-21), or null. What the maker's role lacks is not counted: the
 * key will not grant it either (TEAM-2).
 */
export function scopeNotHeld(grant: Grant, holds: ReadonlySet<string>, role: Role): string | null {
  const granted = scopesWithin(scopesOf(grant.permission, grant.scopes), role)
  for (const scope of granted) {
    const [whole = '', id] = scope.split('@', 2)
    if (!hasScope(holds, whole as Scope, id)) return scope
  }
  return null
}

/** Why a key that is good until `untilMs` (null: for ever) may not be made by one that is good until `ownUntilMs` (ACC-8); null: it may. */
export function outlives(untilMs: number | null, ownUntilMs: number | null): string | null {
  if (ownUntilMs === null || (untilMs !== null && untilMs <= ownUntilMs)) return null
  return `the key that asks ends at ${new Date(ownUntilMs).toISOString()}: a key that it makes or rotates ends no later`
}
