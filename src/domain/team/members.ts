import type { Permission } from '../../contract/enums.ts'
import type { Refusal } from '../../contract/problems.ts'
import { managesMembers, ROLES, type Role, scopesOf, scopesWithin } from '../access.ts'

/** Maximum number of members of an organization; their list is not paged. */
export const MAX_MEMBERS = 1000

const BUT_OWNER = ROLES.filter((role) => role !== 'OWNER')
/** Roles that a member of a role may assign and take away (TEAM-5). */
const MANAGED: Readonly<Record<Role, readonly Role[]>> = { OWNER: ROLES, ADMIN: BUT_OWNER, DEV: [], BILLING: [], BASIC: [] }
/** Roles whose rights are covered by a role. Only owners and administrators cover BILLING. */
const NOT_ABOVE: Readonly<Record<Role, readonly Role[]>> = {
  OWNER: ROLES,
  ADMIN: BUT_OWNER,
  DEV: ['DEV', 'BASIC'],
  BILLING: ['BILLING'],
  BASIC: ['BASIC'],
}

/** Whether a member of the role `actor` may assign or take away `role` (TEAM-5). */
export function mayManage(actor: Role, role: Role): boolean {
  return MANAGED[actor].includes(role)
}

/** Whether `role` grants everything that `other` grants. */
export function isNotLower(role: Role, other: Role): boolean {
  return NOT_ABOVE[role].includes(other)
}

/** Number of organizations that a user owns, and the maximum for that user (TEAM-3). */
export interface Ownership {
  owned: number
  bound: number
}

/** The acting member and the affected member of an organization; both are the same when `isSelf`. */
export interface Standing {
  /** Role of the acting member. */
  actor: Role
  /** Role of the affected member. */
  member: Role
  isSelf: boolean
  /** Number of owners of the organization who are not suspended (DER-22); the affected member counts even if suspended. */
  owners: number
}

/** User who receives the keys of a removed member; `role` is undefined when that user is not a member. */
export interface KeyRecipient {
  role: Role | undefined
  isSelf: boolean
}

/** Why a role may not manage members and invitations (TEAM-5); null: it may. */
export function refuseManaging(actor: Role): Refusal | null {
  return managesMembers(actor) ? null : denied(`the role ${actor} may not manage members or the organization`)
}

/** Why a member may not be assigned another role (TEAM-5, TEAM-6); null: allowed. `ownership` is that of the affected member. */
export function refuseRole(standing: Standing, to: Role, ownership: Ownership): Refusal | null {
  const refused = refuseGift(standing.actor, standing.member) ?? refuseGift(standing.actor, to)
  if (refused || to === standing.member) return refused
  if (to === 'OWNER') return refuseOwning(ownership)
  return isLastOwner(standing) ? LAST_OWNER : null
}

/** Why a member may not be removed or leave (TEAM-5, TEAM-6), or why the recipient may not receive the keys (TEAM-11); null: allowed. */
export function refuseRemoval(standing: Standing, recipient: KeyRecipient | null): Refusal | null {
  const refused = standing.isSelf ? null : refuseGift(standing.actor, standing.member)
  if (refused) return refused
  if (isLastOwner(standing)) return LAST_OWNER
  return recipient && refuseRecipient(standing, recipient)
}

/** Why ownership may not be transferred to a member (TEAM-12); null: allowed. `ownership` as with `refuseRole`. */
export function refuseHandOver(standing: Standing, ownership: Ownership): Refusal | null {
  if (standing.actor !== 'OWNER') return denied(`the role ${standing.actor} does not own the organization`)
  if (standing.isSelf)
    return { key: 'badRequest', detail: 'userId is your own: give the id of the member who becomes the owner', code: 'RULE' }
  return standing.member === 'OWNER' ? null : refuseOwning(ownership)
}

/** Why a member of the role `actor` may not assign or take away a role (TEAM-5); null: allowed. */
export function refuseGift(actor: Role, role: Role): Refusal | null {
  return refuseManaging(actor) ?? (mayManage(actor, role) ? null : denied(`the role ${actor} may not assign or remove the role ${role}`))
}

/** Why a user may not own one more organization (TEAM-3); null: allowed. */
export function refuseOwning({ owned, bound }: Ownership): Refusal | null {
  if (owned < bound) return null
  const detail = `the user may own ${bound} organizations and owns ${owned}; delete or transfer one first, or ask the operator to raise the budget`
  return { key: 'badRequest', detail, code: 'RULE' }
}

/**
 * Scopes of a key that is handed to a member of another role (TEAM-11): those that it granted before, so that it grants nothing new to a
 * party that knows its text, without `account:write`, which with the new role would allow actions that the old role did not.
 */
export function scopesOfHandedKey(from: Role, permission: Permission, listed: readonly string[]): string[] {
  return [...scopesWithin(scopesOf(permission, listed), from)].filter((scope) => scope !== 'account:write')
}

function refuseRecipient({ actor, member }: Standing, { role, isSelf }: KeyRecipient): Refusal | null {
  const refused = refuseManaging(actor)
  if (refused) return refused
  if (role === undefined) return { key: 'badRequest', detail: 'keysTo is not a member of the organization', code: 'RULE' }
  if (isSelf) return { key: 'badRequest', detail: 'keysTo is the member who leaves: name another member', code: 'RULE' }
  if (!isNotLower(role, member)) {
    return {
      key: 'badRequest',
      detail: `keysTo has the role ${role}, which is lower than ${member}: name a member with an equal or higher role`,
      code: 'RULE',
    }
  }
  return mayManage(actor, role) ? null : denied(`the role ${actor} may not give keys to the role ${role}`)
}

function isLastOwner({ member, owners }: Standing): boolean {
  return member === 'OWNER' && owners <= 1
}

const LAST_OWNER: Refusal = {
  key: 'conflict',
  detail: 'an organization needs at least one owner who is not suspended: make another member OWNER first, or delete the organization',
  code: 'RULE',
}

function denied(why: string): Refusal {
  return { key: 'accessDenied', errors: [why] }
}
