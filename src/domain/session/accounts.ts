import type { Role } from '../access.ts'

/** Membership of a user in an account. */
export interface Membership {
  role: Role
  isSuspended: boolean
}

/** Accounts of a user that are not deleted, by id, including the user's own. */
export interface Accounts {
  own: string
  all: ReadonlyMap<string, Membership>
}

/**
 * Account that a session acts for: the requested team if the user is a member, otherwise, without an error, the user's own account (AUT-7).
 * Null when the user's own account is gone.
 */
export function accountFor(accounts: Accounts, askedTeam: string | null): { teamId: string; membership: Membership } | null {
  const asked = askedTeam === null ? undefined : accounts.all.get(askedTeam)
  if (askedTeam !== null && asked) return { teamId: askedTeam, membership: asked }
  const own = accounts.all.get(accounts.own)
  return own ? { teamId: accounts.own, membership: own } : null
}
