import type {
  CreateOrganizationRequest,
  Organization,
  OrganizationDetails,
  OrganizationMember,
  UpdateOrganizationRequest,
} from '../../contract/organizations/organizations.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { openDatabase } from '../../db/client.ts'
import { listMembers, type MemberRow } from '../../db/organizations/members.ts'
import * as table from '../../db/organizations/organizations.ts'
import { refuseManaging, refuseOwning } from '../../domain/team/members.ts'
import { refuseDeletion } from '../../domain/team/organization.ts'
import { newResourceId } from '../../platform/ids.ts'
import { noteChange } from '../audit.ts'
import type { VerbContext } from '../context.ts'
import { dropCachedDecisions } from '../credentials/cached-decisions.ts'
import { decideAgain } from '../decide-again.ts'
import { onceForKey, type StoreAnswer } from '../idempotency.ts'
import { contentTag, reportTag, requireMatch } from '../precondition.ts'
import { requireScope } from '../require-scope.ts'
import { assertAllowed, noteFor, requireOrganization, requireOwnAccount, seerOf } from './caller.ts'

const NOUN = 'organization'

/** Returns all organizations of the caller, newest first (ORG-1, ORG-4). Throws 403. */
export async function listOrganizations(ctx: VerbContext): Promise<Organization[]> {
  requireScope(ctx.principal, 'organizations:read')
  return (await table.listOrganizations(openDatabase(ctx.env.DB), seerOf(ctx))).map(toOrganization)
}

/** Returns an organization with its members (ORG-2). Throws 403, and 404 for callers who are no members. */
export async function getOrganization(ctx: VerbContext, id: string): Promise<OrganizationDetails> {
  const organization = await requireOrganization(ctx, 'organizations:read', id)
  reportTag(ctx, tagOfOrganization(ctx, organization))
  return { ...toOrganization(organization), members: (await listMembers(openDatabase(ctx.env.DB), id)).map(toMember) }
}

/** Creates an organization that the caller owns (TEAM-3, TEAM-4). Throws 400, 403, 409 and 422 (its key is in use). */
export async function createOrganization(
  ctx: VerbContext,
  body: CreateOrganizationRequest,
  key: string | undefined,
): Promise<Organization> {
  await requireOwnAccount(ctx)
  // The user id is part of the request: members who act for one account share its Idempotency-Keys, but each owns what they create.
  const made = await onceForKey<Organization>(ctx, 'createOrganization', key, [ctx.principal.userId, body], (store) =>
    write(ctx, body, store),
  )
  dropCachedDecisions()
  return made
}

async function write(ctx: VerbContext, { name }: CreateOrganizationRequest, store: StoreAnswer<Organization>): Promise<Organization> {
  const db = openDatabase(ctx.env.DB)
  const { userId } = ctx.principal
  const row = { id: newResourceId(), name, createdAt: ctx.nowMs }
  const answer = toOrganization({ ...row, role: 'OWNER' })
  const note = { action: 'organizations.create', resourceKind: NOUN, resourceId: row.id, before: null, after: { name, owner: userId } }
  return decideAgain(NOUN, async () => {
    assertAllowed(refuseOwning(await table.countOwned(db, userId)))
    return (await table.insertOrganization(db, row, userId, [...store(answer), noteChange(noteFor(ctx, row.id), note)])) ? answer : null
  })
}

/** Renames an organization (TEAM-5). Throws 403 and 404. */
export function renameOrganization(ctx: VerbContext, id: string, { name }: UpdateOrganizationRequest): Promise<Organization> {
  const db = openDatabase(ctx.env.DB)
  return decideAgain(NOUN, async () => {
    const before = await requireOrganization(ctx, 'account:write', id)
    assertAllowed(refuseManaging(before.role))
    requireMatch(ctx, tagOfOrganization(ctx, before))
    const answer = toOrganization({ ...before, name })
    if (name === before.name) return answer
    const note = { action: 'organizations.rename', resourceKind: NOUN, resourceId: id, before: { name: before.name }, after: { name } }
    const actor = { userId: ctx.principal.userId, role: before.role }
    if (!(await table.renameOrganization(db, before, name, actor, [noteChange(noteFor(ctx, id), note)]))) return null
    reportTag(ctx, tagOfOrganization(ctx, { id, name }))
    return answer
  })
}

/** Deletes an organization that has no resources left (TEAM-13). Throws 403, 404 and 409. */
export async function deleteOrganization(ctx: VerbContext, id: string): Promise<void> {
  const db = openDatabase(ctx.env.DB)
  await decideAgain(NOUN, async () => {
    const before = await requireOrganization(ctx, 'account:write', id)
    const { name, role } = before
    const actor = { userId: ctx.principal.userId, role }
    requireMatch(ctx, tagOfOrganization(ctx, before))
    assertAllowed(refuseDeletion(role, await table.countBlockers(db, id, actor.userId, ctx.nowMs)))
    const note = { action: 'organizations.delete', resourceKind: NOUN, resourceId: id, before: { name }, after: null }
    return (await table.deleteOrganization(db, before, actor, ctx.nowMs, noteChange(noteFor(ctx, id), note))) || null
  })
  dropCachedDecisions()
}

/** Returns the tag of an organization, over its name, the only field that a PATCH may change. */
export function tagOfOrganization({ env }: VerbContext, { id, name }: Pick<table.OrganizationRow, 'id' | 'name'>): string {
  return contentTag(env, NOUN, id, name)
}

/** Returns an organization in the format of the answer. */
export function toOrganization({ id, name, role, createdAt }: table.OrganizationRow): Organization {
  return { id, name, role, createdAt: formatTime(createdAt) }
}

/** Returns a member in the format of the answer. */
export function toMember({ userId, email, role, createdAt }: MemberRow): OrganizationMember {
  return { userId, email, role, joinedAt: formatTime(createdAt) }
}
