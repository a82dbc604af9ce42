import type { Permission } from '../../contract/enums.ts'
import type { Refusal } from '../../contract/problems.ts'
import { managesMembers, ROLES, type Role, scopesOf, scopesWithin } from '../access.ts'

/** Most members of an organization: their list is answered whole. */
export const MAX_MEMBERS = 1000

const BUT_OWNER = ROLES.filter((role) => role !== 'OWNER')
/** The roles that a member of a role may give and take away (TEAM-5). */
const MANAGED: Readonly<Record<Role, readonly Role[]>> = { OWNER: ROLES, ADMIN: BUT_OWNER, DEV: [], BILLING: [], BASIC: [] }
/** The roles that a role is not lower than. Nobody but owners and administrators stands above those who see the bills. */
const NOT_ABOVE: Readonly<Record<Role, readonly Role[]>> = {
  OWNER: ROLES,
  ADMIN: BUT_OWNER,
  DEV: ['DEV', 'BASIC'],
  BILLING: ['BILLING'],
  BASIC: ['BASIC'],
}

/** Whether a member of the role `actor` may make somebody a `role`, and take that away (TEAM-5). */
export function mayManage(actor: Role, role: Role): boolean {
  return MANAGED[actor].includes(role)
}

/** Whether `role` grants all that `other` does. */
export function isNotLower(role: Role, other: Role): boolean {
  return NOT_ABOVE[role].includes(other)
}

/** How many organizations a user owns, and may own (TEAM-3). */
export interface Ownership {
  owned: number
  bound: number
}

/** Two members of an organization, one of whom does something to the other, or one who does it to himself. */
export interface Standing {
  /** The role of who acts. */
  actor: Role
  /** The role of who is acted on. */
  member: Role
  isSelf: boolean
  /** How many owners the organization has who are not suspended (DER-22); the one who is acted on counts in any case. */
  owners: number
}

/** Who is to have the keys of a member that goes; undefined: that user is no member. */
export interface Heir {
  role: Role | undefined
  isSelf: boolean
}

/** Why a member may not invite, list invitations and the like (TEAM-5); null: he may. */
export function refuseManaging(actor: Role): Refusal | null {
  return managesMembers(actor) ? null : denied(`the role ${actor} manages neither members nor the organization`)
}

/** Why a member may not be given another role (TEAM-5, TEAM-6); null: he may. `ownership` is that of who becomes an owner. */
export function refuseRole(standing: Standing, to: Role, ownership: Ownership): Refusal | null {
  const refused = refuseGift(standing.actor, standing.member) ?? refuseGift(standing.actor, to)
  if (refused || to === standing.member) return refused
  if (to === 'OWNER') return refuseOwning(ownership)
  return isLastOwner(standing) ? LAST_OWNER : null
}

/** Why a member may not be removed, or leave (TEAM-5, TEAM-6), and why another may not have the keys (TEAM-11); null: so be it. */
export function refuseRemoval(standing: Standing, heir: Heir | null): Refusal | null {
  const refused = standing.isSelf ? null : refuseGift(standing.actor, standing.member)
  if (refused) return refused
  if (isLastOwner(standing)) return LAST_OWNER
  return heir && refuseHeir(standing, heir)
}

/** Why ownership may not be handed over to a member (TEAM-12); null: it may. `ownership` as with `refuseRole`. */
export function refuseHandOver(standing: Standing, ownership: Ownership): Refusal | null {
  if (standing.actor !== 'OWNER') return denied(`the role ${standing.actor} does not own the organization`)
  if (standing.isSelf) return { key: 'badRequest', detail: 'userId is your own: name the member who becomes the owner', code: 'RULE' }
  return standing.member === 'OWNER' ? null : refuseOwning(ownership)
}

/** Why a role may not be given or taken away by a member (TEAM-5); null: it may. */
export function refuseGift(actor: Role, role: Role): Refusal | null {
  return refuseManaging(actor) ?? (mayManage(actor, role) ? null : denied(`the role ${actor} makes and removes no ${role}`))
}

/** Why a user may not own one more organization (TEAM-3); null: he may. */
export function refuseOwning({ owned, bound }: Ownership): Refusal | null {
  if (owned < bound) return null
  const detail = `the user may own ${bound} organizations and owns ${owned}; delete one or hand one over first, or ask the operator for more`
  return { key: 'badRequest', detail, code: 'RULE' }
}

/**
 * The scopes of a key of some permission that is handed to a member of another role (TEAM-11): what it granted, so that it grants nothing new
 * to whoever knows its text, and never `account:write`, with which the new role would do what the old one could not.
 */
export function scopesOfHandedKey(from: Role, permission: Permission, listed: readonly string[]): string[] {
  return [...scopesWithin(scopesOf(permission, listed), from)].filter((scope) => scope !== 'account:write')
}

function refuseHeir({ actor, member }: Standing, { role, isSelf }: Heir): Refusal | null {
  const refused = refuseManaging(actor)
  if (refused) return refused
  if (role === undefined) return { key: 'badRequest', detail: 'keysTo names no member of the organization', code: 'RULE' }
  if (isSelf) return { key: 'badRequest', detail: 'keysTo names the member who goes: name one who stays', code: 'RULE' }
  if (!isNotLower(role, member)) {
    return {
      key: 'badRequest',
      detail: `keysTo names a ${role}, which is lower than ${member}: name a member whose role is not`,
      code: 'RULE',
    }
  }
  return mayManage(actor, role) ? null : denied(`the role ${actor} gives keys to no ${role}`)
}

function isLastOwner({ member, owners }: Standing): boolean {
  return member === 'OWNER' && owners <= 1
}

const LAST_OWNER: Refusal = {
  key: 'conflict',
  detail: 'an organization has at least one owner who is not suspended: make another member OWNER first, or delete the organization',
  code: 'RULE',
}

function denied(why: string): Refusal {
  return { key: 'accessDenied', errors: [why] }
}
