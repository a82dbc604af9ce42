import type {
  HandOverRequest,
  OrganizationDetails,
  OrganizationMember,
  UpdateMemberRequest,
} from '../../contract/organizations/organizations.ts'
import { Problem } from '../../contract/problems.ts'
import { openDatabase, type Statement } from '../../db/client.ts'
import * as table from '../../db/organizations/members.ts'
import { countOwned, mayOwnOneMore } from '../../db/organizations/organizations.ts'
import { refuseHandOver, refuseManaging, refuseRemoval, refuseRole, type Standing } from '../../domain/team/members.ts'
import { type Change, noteChange } from '../audit.ts'
import type { VerbContext } from '../context.ts'
import { dropCachedDecisions } from '../credentials/cached-decisions.ts'
import { decideAgain } from '../decide-again.ts'
import { reportTag, requireMatch } from '../precondition.ts'
import { assertAllowed, noteFor, requireOrganization } from './caller.ts'
import { getOrganization, toMember } from './organizations.ts'

const NOUN = 'membership'

/** Changes the role of a member (TEAM-5, TEAM-6). Throws 400, 403, 404 and 409. */
export async function changeRole(
  ctx: VerbContext,
  id: string,
  userId: string,
  { role: to }: UpdateMemberRequest,
): Promise<OrganizationMember> {
  const db = openDatabase(ctx.env.DB)
  const changed = await decideAgain(NOUN, async () => {
    const { actor, member, standing } = await readMembers(ctx, id, userId)
    requireMatch(ctx, tagOfMember(member))
    assertAllowed(refuseRole(standing, to, await countOwned(db, userId)))
    const after = { ...member, role: to }
    if (to === member.role) return after
    const note = noteOf(ctx, id, userId, { action: 'members.change-role', before: { role: member.role }, after: { role: to } })
    const condition = to === 'OWNER' ? mayOwnOneMore(userId) : undefined
    return (await table.changeRole(db, id, { member, to, actor, condition }, note)) ? after : null
  })
  dropCachedDecisions()
  reportTag(ctx, tagOfMember(changed))
  return toMember(changed)
}

/** Returns the tag of a member: the role in quotes, because nothing else changes and every list contains it. */
export function tagOfMember({ role }: Pick<table.MemberRow, 'role'>): string {
  return `"${role}"`
}

/**
 * Removes a member, or lets the caller leave (TEAM-5, TEAM-6). Keys that the leaving member made there are revoked, or handed to `keysTo`
 * (TEAM-10, TEAM-11). Throws 400, 403, 404 and 409.
 */
export async function removeMember(ctx: VerbContext, id: string, userId: string, keysTo: string | undefined): Promise<void> {
  const db = openDatabase(ctx.env.DB)
  await decideAgain(NOUN, async () => {
    const { actor, member, members, standing } = await readMembers(ctx, id, userId, keysTo)
    requireMatch(ctx, tagOfMember(member))
    const recipient = keysTo === undefined ? null : (members.get(keysTo) ?? null)
    assertAllowed(refuseRemoval(standing, keysTo === undefined ? null : { role: recipient?.role, isSelf: keysTo === userId }))
    const before = { role: member.role }
    const notes = [
      noteOf(ctx, id, userId, { action: standing.isSelf ? 'members.leave' : 'members.remove', before, after: null }),
      noteOf(
        ctx,
        id,
        userId,
        recipient ? { action: 'members.hand-keys-on', before: null, after: { keysTo: recipient.userId } } : KEYS_REVOKED,
      ),
    ] as const
    return (await table.removeMember(db, id, { member, actor, recipient, nowMs: ctx.nowMs }, notes)) || null
  })
  dropCachedDecisions()
}

/** Makes a member the owner, and the caller an administrator, in one step (TEAM-12). Throws 400, 403, 404 and 409. */
export async function handOver(ctx: VerbContext, id: string, { userId }: HandOverRequest): Promise<OrganizationDetails> {
  const db = openDatabase(ctx.env.DB)
  await decideAgain(NOUN, async () => {
    const { actor, member } = await decideHandOver(ctx, id, userId)
    const condition = member.role === 'OWNER' ? undefined : mayOwnOneMore(userId)
    const notes = [
      noteOf(ctx, id, userId, { action: 'members.change-role', before: { role: member.role }, after: { role: 'OWNER' } }),
      noteOf(ctx, id, actor.userId, { action: 'members.change-role', before: { role: 'OWNER' }, after: { role: 'ADMIN' } }),
    ] as const
    return (await table.handOver(db, id, { member, owner: actor, condition }, notes)) || null
  })
  dropCachedDecisions()
  return getOrganization(ctx, id)
}

/** Returns the present and the next owner of a handover; throws its refusals. */
export async function decideHandOver(
  ctx: VerbContext,
  id: string,
  userId: string,
): Promise<{ actor: table.Actor; member: table.KnownMember }> {
  const { actor, members, activeOwners } = await readFound(ctx, id, [userId])
  const member = members.get(userId)
  const owners = activeOwners.size
  const standing: Standing = { actor: actor.role, member: member?.role ?? 'BASIC', isSelf: userId === actor.userId, owners }
  assertAllowed(refuseHandOver(standing, await countOwned(openDatabase(ctx.env.DB), userId)))
  if (!member)
    throw new Problem('badRequest', { detail: 'userId is not a member of the organization: invite the user first', code: 'RULE' })
  if (!member.isActive) throw new Problem('badRequest', { detail: 'userId is suspended: name a member who is not suspended', code: 'RULE' })
  return { actor, member }
}

const KEYS_REVOKED = { action: 'members.revoke-keys', before: null, after: null }

interface FoundMembers {
  actor: table.Actor
  members: ReadonlyMap<string, table.KnownMember>
  activeOwners: ReadonlySet<string>
}

async function readFound(ctx: VerbContext, id: string, userIds: readonly string[]): Promise<FoundMembers> {
  const { role } = await requireOrganization(ctx, 'account:write', id)
  const { userId } = ctx.principal
  const found = await table.findMembers(openDatabase(ctx.env.DB), id, userIds)
  return { actor: { userId, role }, ...found }
}

/**
 * Returns the acting and the affected member. A member without the right to manage others gets 403 before 404, so that the answer does not
 * reveal who else is a member.
 */
export async function readMembers(
  ctx: VerbContext,
  id: string,
  userId: string,
  other: string | undefined = undefined,
): Promise<FoundMembers & { member: table.MemberRow; standing: Standing }> {
  const seen = await readFound(ctx, id, other === undefined ? [userId] : [userId, other])
  const { actor, members, activeOwners } = seen
  const isSelf = userId === actor.userId
  const member = members.get(userId)
  if (!member) {
    assertAllowed(refuseManaging(actor.role))
    throw new Problem('notFound')
  }
  const owners = new Set([...activeOwners, userId]).size
  return { ...seen, member, standing: { actor: actor.role, member: member.role, isSelf, owners } }
}

function noteOf(ctx: VerbContext, id: string, userId: string, change: Pick<Change, 'action' | 'before' | 'after'>): Statement {
  return noteChange(noteFor(ctx, id), { ...change, resourceKind: 'member', resourceId: userId })
}
