import type { Role } from '../../domain/access.ts'
import type { Accounts } from '../../domain/session/accounts.ts'
import { memberships, teams } from '../schema.ts'
import { suspendedSince } from './suspension.ts'

/** Columns that a user lookup selects of each membership, for `accountsOf`. */
export const MEMBERSHIP = { teamId: teams.id, role: memberships.role, suspendedAt: suspendedSince(teams.id) }

/** A membership in the result of a user lookup; null values where there is no live one. */
interface MembershipRow {
  teamId: string | null
  role: Role | null
  suspendedAt: number | null
}

/** The live accounts of a user whose personal account is `own`. */
export function accountsOf(own: string, rows: readonly MembershipRow[]): Accounts {
  // DER-40: a suspended user acts for no account.
  const isUserSuspended = rows.some(({ teamId, suspendedAt }) => teamId === own && suspendedAt !== null)
  const all = new Map(
    rows.flatMap(({ teamId, role, suspendedAt }) =>
      teamId === null || role === null ? [] : [[teamId, { role, isSuspended: isUserSuspended || suspendedAt !== null }] as const],
    ),
  )
  return { own, all }
}
