import {
  type CreatedInvitation,
  type CreateInvitationRequest,
  INVITATION_DAYS,
  type Invitation,
  type Organization,
} from '../../contract/organizations/organizations.ts'
import { Problem } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { openDatabase, type Statement } from '../../db/client.ts'
import * as table from '../../db/organizations/invitations.ts'
import { countOwned } from '../../db/organizations/organizations.ts'
import { readParent, writeParent } from '../../domain/session/parent.ts'
import { refuseInvitation } from '../../domain/team/invitation.ts'
import { refuseGift, refuseManaging, refuseOwning } from '../../domain/team/members.ts'
import { oneCase } from '../../domain/text/letter-case.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import { keyedDigest } from '../../platform/crypto.ts'
import { newInvitationToken, newResourceId } from '../../platform/ids.ts'
import { type Change, noteChange } from '../audit.ts'
import type { VerbContext } from '../context.ts'
import { dropCachedDecisions } from '../credentials/cached-decisions.ts'
import { isParentGood } from '../credentials/parents.ts'
import { decideAgain } from '../decide-again.ts'
import { onceForKey, type StoreAnswer } from '../idempotency.ts'
import { orNotFound } from '../or-not-found.ts'
import { assertAllowed, noteFor, requireOrganization, requireOwnAccount } from './caller.ts'
import { toOrganization } from './organizations.ts'

const NOUN = 'invitation'
const DAY_MS = 24 * 60 * 60_000

/**
 * Invites an address (TEAM-5, TEAM-7). A plane may have no mail, so the answer holds the token for the caller to pass on. Throws 400, 403,
 * 404, 409 and 422 (its key is in use).
 */
export async function createInvitation(
  ctx: VerbContext,
  id: string,
  body: CreateInvitationRequest,
  key: string | undefined,
): Promise<CreatedInvitation> {
  assertAllowed(refuseManaging((await requireOrganization(ctx, 'account:write', id)).role))
  const asked = [id, ctx.principal.userId, body]
  return onceForKey<CreatedInvitation>(ctx, 'createInvitation', key, asked, (store) => write(ctx, id, body, store))
}

async function write(
  ctx: VerbContext,
  teamId: string,
  body: CreateInvitationRequest,
  store: StoreAnswer<CreatedInvitation>,
): Promise<CreatedInvitation> {
  const db = openDatabase(ctx.env.DB)
  const { userId, via, credentialId } = ctx.principal
  const parent = via === 'KEY' ? writeParent({ kind: 'KEY', id: credentialId }) : null
  const token = newInvitationToken()
  const expiresAt = ctx.nowMs + (body.expiresInDays ?? INVITATION_DAYS) * DAY_MS
  const place = { id: newResourceId(), teamId, email: oneCase(body.email), role: body.role, invitedBy: userId }
  const times = { createdAt: ctx.nowMs, expiresAt, outcome: null, endedAt: null, parent }
  const row = { ...place, ...times, tokenHash: await hashOf(ctx, token) }
  const answer = { ...toInvitation(row), token }
  const together = [...store(answer), noteOf(ctx, row, { action: 'invitations.create', before: null, after: stateOf(row) })]
  // An invitation that has ended must not block its address or count towards the limit (DER-32).
  await table.deleteInvitationsOf(db, teamId, [...(await endedParents(ctx, await table.listInvitations(db, teamId, ctx.nowMs)))])
  return decideAgain(NOUN, async () => {
    const { role } = await requireOrganization(ctx, 'account:write', teamId)
    const around = await table.readMembership(db, teamId, row.email, ctx.nowMs)
    assertAllowed(refuseInvitation({ actor: role, role: row.role, ...around }))
    return (await table.insertInvitation(db, row, { userId, role }, together)) ? answer : null
  })
}

/**
 * Returns the open invitations of an organization, oldest first (TEAM-7), without those whose key has ended (DER-32). Throws 403 and 404.
 */
export async function listInvitations(ctx: VerbContext, id: string): Promise<Invitation[]> {
  assertAllowed(refuseManaging((await requireOrganization(ctx, 'organizations:read', id)).role))
  const rows = await table.listInvitations(openDatabase(ctx.env.DB), id, ctx.nowMs)
  const ended = await endedParents(ctx, rows)
  return rows.filter(({ parent }) => parent === null || !ended.has(parent)).map(toInvitation)
}

/** Revokes an open invitation (TEAM-5). Throws 403 and 404. */
export async function revokeInvitation(ctx: VerbContext, id: string, invitationId: string): Promise<void> {
  const db = openDatabase(ctx.env.DB)
  await decideAgain(NOUN, async () => {
    const { role } = await requireOrganization(ctx, 'account:write', id)
    assertAllowed(refuseManaging(role))
    const row = orNotFound(await table.findInvitation(db, id, invitationId, ctx.nowMs))
    assertAllowed(refuseGift(role, row.role))
    const note = noteOf(ctx, row, { action: 'invitations.revoke', before: stateOf(row), after: null })
    return (await table.revokeInvitation(db, row, { userId: ctx.principal.userId, role }, ctx.nowMs, note)) || null
  })
}

/** Makes the caller a member, by the token of an invitation for the caller's address (TEAM-8). Throws 400, 403, 404 and 409. */
export async function acceptInvitation(ctx: VerbContext, token: string): Promise<Organization> {
  await requireOwnAccount(ctx)
  const db = openDatabase(ctx.env.DB)
  const { userId } = ctx.principal
  const joined = await decideAgain(NOUN, async () => {
    const { invitation: row, team } = await requireInvitation(ctx, token)
    if (row.role === 'OWNER') assertAllowed(refuseOwning(await countOwned(db, userId)))
    const around = await table.readMembership(db, row.teamId, row.email, ctx.nowMs)
    // Repeats the check of the invitation at present, as if the address had no invitation yet.
    assertAllowed(refuseInvitation({ actor: 'OWNER', role: row.role, ...around, isInvited: false, open: 0 }))
    const note = noteOf(ctx, row, { action: 'invitations.accept', before: stateOf(row), after: { userId, role: row.role } })
    if (!(await table.acceptInvitation(db, row, userId, ctx.nowMs, note))) return null
    return toOrganization({ id: row.teamId, ...team, role: row.role })
  })
  dropCachedDecisions()
  return joined
}

/** Declines an invitation for the caller's address (TEAM-8). Throws 403 and 404. */
export async function declineInvitation(ctx: VerbContext, token: string): Promise<void> {
  await requireOwnAccount(ctx)
  await decideAgain(NOUN, async () => {
    const { invitation: row } = await requireInvitation(ctx, token)
    const note = noteOf(ctx, row, { action: 'invitations.decline', before: stateOf(row), after: null })
    return (await table.declineInvitation(openDatabase(ctx.env.DB), row.id, ctx.principal.userId, ctx.nowMs, note)) || null
  })
}

/**
 * Returns the open invitation of a token. The 404 is the same for a token that is wrong, used, expired, revoked, without its creator or for
 * another user, so that the answer does not reveal which (TEAM-8).
 */
async function requireInvitation(ctx: VerbContext, token: string) {
  const found = await table.findInvitationOf(openDatabase(ctx.env.DB), ctx.principal.userId, await hashOf(ctx, token), ctx.nowMs)
  if (found && (await endedParents(ctx, [found.invitation])).size === 0) return found
  const detail =
    'no open invitation for your address has this token: it was used, expired or revoked, it is for another address, the key that created it is revoked or expired, or its creator may not invite with its role; ask for a new invitation'
  throw new Problem('notFound', { detail })
}

/** Returns the parents of invitations, keys and what these are derived from, that have ended (DER-32). */
async function endedParents({ env, nowMs }: VerbContext, rows: readonly table.InvitationRow[]): Promise<ReadonlySet<string>> {
  const parents = [...new Set(rows.flatMap(({ parent }) => parent ?? []))]
  const good = await mapAtOnce(parents, (parent) => isParentGood(env, readParent(parent), nowMs))
  return new Set(parents.filter((_parent, at) => !good[at]))
}

// Hashes with the pepper of the keys, which is not rotated, because an invitation lives for weeks.
function hashOf({ env }: VerbContext, token: string): Promise<string> {
  return keyedDigest(env.KEY_PEPPER, `invitation\n${token}`)
}

function noteOf(ctx: VerbContext, row: table.InvitationRow, change: Pick<Change, 'action' | 'before' | 'after'>): Statement {
  return noteChange(noteFor(ctx, row.teamId), { ...change, resourceKind: NOUN, resourceId: row.id })
}

function stateOf({ email, role, expiresAt }: table.InvitationRow): Record<string, unknown> {
  return { email, role, expiresAt: formatTime(expiresAt) }
}

function toInvitation({ id, email, role, invitedBy, createdAt, expiresAt }: table.InvitationRow): Invitation {
  return { id, email, role, invitedBy, createdAt: formatTime(createdAt), expiresAt: formatTime(expiresAt) }
}
