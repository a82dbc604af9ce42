import type { Role } from '../access.ts'

/** What a user is in an account. */
export interface Membership {
  role: Role
  isSuspended: boolean
}

/** The live accounts of a user, by their ids; their own is among them. */
export interface Accounts {
  own: string
  all: ReadonlyMap<string, Membership>
}

/** The account that a session acts for: the team that it asks for if the user belongs to it, otherwise, in silence, the user's own (AUT-7). */
export function accountFor(accounts: Accounts, askedTeam: string | null): { teamId: string; membership: Membership } | null {
  const asked = askedTeam === null ? undefined : accounts.all.get(askedTeam)
  if (askedTeam !== null && asked) return { teamId: askedTeam, membership: asked }
  const own = accounts.all.get(accounts.own)
  return own ? { teamId: accounts.own, membership: own } : null
}
