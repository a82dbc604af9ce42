import type { ChangedResource, ChangePlan } from '../../contract/change-plan.ts'
import type { HandOverRequest, UpdateMemberRequest } from '../../contract/organizations/organizations.ts'
import { openDatabase } from '../../db/client.ts'
import { listGoodKeys } from '../../db/operator/account-holdings.ts'
import { findInvitation, listInvitations } from '../../db/organizations/invitations.ts'
import { listMembers, type MemberRow } from '../../db/organizations/members.ts'
import { countBlockers, countOwned } from '../../db/organizations/organizations.ts'
import { effect } from '../../domain/plan/effect.ts'
import { planOrganizationDeletion, planRemoval, planRole } from '../../domain/plan/member.ts'
import { refuseGift, refuseManaging, refuseRemoval, refuseRole } from '../../domain/team/members.ts'
import { refuseDeletion } from '../../domain/team/organization.ts'
import { planChange } from '../change-plan.ts'
import type { VerbContext } from '../context.ts'
import { orNotFound } from '../or-not-found.ts'
import { requireMatch } from '../precondition.ts'
import { assertAllowed, requireOrganization } from './caller.ts'
import { decideHandOver, readMembers, tagOfMember } from './members.ts'
import { tagOfOrganization } from './organizations.ts'

// Dry runs of changes among the members of an organization (DRY-14, DRY-15), with the errors of the changes themselves.

/** Returns the plan of changing a member's role. Throws 403 and 404. */
export async function planChangeRole(ctx: VerbContext, id: string, userId: string, { role: to }: UpdateMemberRequest): Promise<ChangePlan> {
  const db = openDatabase(ctx.env.DB)
  const { member, standing } = await readMembers(ctx, id, userId)
  return planChange('members.change-role', memberOf(member), async () => {
    requireMatch(ctx, tagOfMember(member))
    assertAllowed(refuseRole(standing, to, await countOwned(db, userId)))
    return planRole(memberOf(member), member.role, to, await listGoodKeys(db, id, userId, ctx.nowMs))
  })
}

/** Returns the plan of removing a member or leaving. Throws 403 and 404. */
export async function planRemoveMember(ctx: VerbContext, id: string, userId: string, keysTo: string | undefined): Promise<ChangePlan> {
  const { member, members, standing } = await readMembers(ctx, id, userId, keysTo)
  return planChange(standing.isSelf ? 'members.leave' : 'members.remove', memberOf(member), async () => {
    requireMatch(ctx, tagOfMember(member))
    const recipient = keysTo === undefined ? null : (members.get(keysTo) ?? null)
    assertAllowed(refuseRemoval(standing, keysTo === undefined ? null : { role: recipient?.role, isSelf: keysTo === userId }))
    const keys = await listGoodKeys(openDatabase(ctx.env.DB), id, userId, ctx.nowMs)
    return planRemoval(memberOf(member), member.role, keys, recipient, ctx.nowMs)
  })
}

/** Returns the plan of handing an organization over. Throws 403 and 404. */
export async function planHandOver(ctx: VerbContext, id: string, { userId }: HandOverRequest): Promise<ChangePlan> {
  const { name } = await requireOrganization(ctx, 'account:write', id)
  const db = openDatabase(ctx.env.DB)
  return planChange('organizations.hand-over', { kind: 'organization', id, name }, async () => {
    const { actor, member } = await decideHandOver(ctx, id, userId)
    const [theirs, own] = await Promise.all([listGoodKeys(db, id, userId, ctx.nowMs), listGoodKeys(db, id, actor.userId, ctx.nowMs)])
    return [
      ...planRole(memberOf(member), member.role, 'OWNER', theirs),
      ...planRole({ kind: 'member', id: actor.userId, name: 'you' }, 'OWNER', 'ADMIN', own),
    ]
  })
}

/** Returns the plan of deleting an organization. Throws 403 and 404. */
export async function planDeleteOrganization(ctx: VerbContext, id: string): Promise<ChangePlan> {
  const db = openDatabase(ctx.env.DB)
  const { name, role } = await requireOrganization(ctx, 'account:write', id)
  const organization = { kind: 'organization' as const, id, name }
  const { userId } = ctx.principal
  return planChange('organizations.delete', organization, async () => {
    requireMatch(ctx, tagOfOrganization(ctx, organization))
    assertAllowed(refuseDeletion(role, await countBlockers(db, id, userId, ctx.nowMs)))
    const [members, invitations, keys] = await Promise.all([
      listMembers(db, id),
      listInvitations(db, id, ctx.nowMs),
      listGoodKeys(db, id, null, ctx.nowMs),
    ])
    return planOrganizationDeletion(organization, { members: members.length, invitations: invitations.length, keys }, ctx.nowMs)
  })
}

/** Returns the plan of revoking an invitation. Throws 403 and 404. */
export async function planRevokeInvitation(ctx: VerbContext, id: string, invitationId: string): Promise<ChangePlan> {
  const { role } = await requireOrganization(ctx, 'account:write', id)
  assertAllowed(refuseManaging(role))
  const row = orNotFound(await findInvitation(openDatabase(ctx.env.DB), id, invitationId, ctx.nowMs))
  const invitation = { kind: 'invitation' as const, id: invitationId, name: row.email }
  return planChange('invitations.revoke', invitation, async () => {
    assertAllowed(refuseGift(role, row.role))
    return [effect(invitation, 'REFUSES', 'WARNING', `its token gives the role ${row.role} no more`)]
  })
}

function memberOf({ userId, email }: MemberRow): ChangedResource {
  return { kind: 'member', id: userId, name: email }
}
