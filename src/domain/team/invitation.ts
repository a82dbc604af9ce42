import type { Refusal } from '../../contract/problems.ts'
import type { Role } from '../access.ts'
import { MAX_MEMBERS, refuseGift } from './members.ts'

/** Maximum number of open invitations of an organization (TEAM-7). */
export const MAX_OPEN_INVITATIONS = 100

/** Facts that decide about an invitation: the roles of inviter and invitee, and the state of the address. */
export interface InvitationRequest {
  actor: Role
  role: Role
  isMember: boolean
  isInvited: boolean
  /** Number of open invitations of the organization; `members`: number of its members. */
  open: number
  members: number
}

/** Why an address may not be invited (TEAM-5, TEAM-7); null: it may. */
export function refuseInvitation({ actor, role, isMember, isInvited, open, members }: InvitationRequest): Refusal | null {
  const refused = refuseGift(actor, role)
  if (refused) return refused
  if (isMember) return { key: 'conflict', detail: 'email belongs to a member: change the role of the member', code: 'RULE' }
  if (isInvited) return { key: 'conflict', detail: 'email has an open invitation: revoke it first', code: 'RULE' }
  if (members >= MAX_MEMBERS) return full(`${MAX_MEMBERS} members; remove one first`)
  return open >= MAX_OPEN_INVITATIONS ? full(`${MAX_OPEN_INVITATIONS} open invitations; revoke one first`) : null
}

function full(what: string): Refusal {
  return { key: 'badRequest', detail: `an organization has at most ${what}`, code: 'RULE' }
}
