import { type Role, scopesOfRole } from '../access.ts'

/** Present state of the user who made a delegation. Times are milliseconds since the epoch. */
export interface Delegator {
  /** Role in the delegation's account; null: the user is no member, or is deleted. */
  role: Role | null
  joinedAtMs: number | null
  /** The operator has suspended the user or the account. */
  isSuspended: boolean
}

/** Why a delegation made at `madeAtMs` is not valid (DER-24), as a text for the account; null: it is valid. */
export function endOfDelegation(madeAtMs: number, { role, joinedAtMs, isSuspended }: Delegator): string | null {
  if (role === null || joinedAtMs === null) return 'the user who delegated is no longer a member of the account'
  if (joinedAtMs > madeAtMs) return 'the user who delegated has left and rejoined the account'
  if (isSuspended) return 'the user who delegated, or the account, is suspended by the operator'
  if (!scopesOfRole(role).has('registries:write')) return `the user who delegated has the role ${role}, which may not delegate`
  return null
}
