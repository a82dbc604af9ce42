import type { Permission } from '../contract/enums.ts'
import { hasScope, type Role, type Scope, scopesOf, scopesWithin } from './access.ts'

/** The permission and scopes that are requested for a key. */
export interface Grant {
  permission: Permission
  scopes: readonly string[]
}

/**
 * The first scope that a caller would grant with a key without having it (TEAM-21), or null. Scopes that the maker's role lacks do not
 * count: the key will not grant them either (TEAM-2).
 */
export function scopeNotHeld(grant: Grant, holds: ReadonlySet<string>, role: Role): string | null {
  const granted = scopesWithin(scopesOf(grant.permission, grant.scopes), role)
  for (const scope of granted) {
    const [whole = '', id] = scope.split('@', 2)
    if (!hasScope(holds, whole as Scope, id)) return scope
  }
  return null
}

/**
 * The reason why a key that expires at `untilMs` (null: never) may not be made with one that expires at `ownUntilMs` (ACC-8); null: it may.
 */
export function outlives(untilMs: number | null, ownUntilMs: number | null): string | null {
  if (ownUntilMs === null || (untilMs !== null && untilMs <= ownUntilMs)) return null
  return `the calling key expires at ${new Date(ownUntilMs).toISOString()}: a key that it creates or rotates cannot expire later`
}
