import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Accounts } from '../../domain/session/accounts.ts'
import type { UserRow } from '../accounts/accounts.ts'
import { accountsOf, MEMBERSHIP } from '../accounts/live-accounts.ts'
import { type AuditRow, insertAuditRow } from '../audit.ts'
import type { Database, Statement } from '../client.ts'
import { identities, memberships, teams, users } from '../schema.ts'
import { selectOf } from '../select-of.ts'
import { endLinksMadeAsOperator, endMadeAsOperator, endProviderSessions } from './console-sessions.ts'

type IdentityRow = typeof identities.$inferSelect

/** A user who has signed in, with the user's live accounts. */
export interface SignedIn {
  userId: string
  isDeleted: boolean
  accounts: Accounts
}

/** Fields of the audit row of a first sign-in. */
type Note = Pick<AuditRow, 'id' | 'at' | 'credentialId' | 'teamId'>

/** The user with the provider's `subject`, in one query; null when no user has signed in with it. */
export async function findSignedIn(db: Database, issuer: string, subject: string): Promise<SignedIn | null> {
  const rows = await db
    .select({
      userId: users.id,
      own: users.personalTeamId,
      deletedAt: users.deletedAt,
      ...MEMBERSHIP,
    })
    .from(identities)
    .innerJoin(users, eq(users.id, identities.userId))
    .leftJoin(memberships, eq(memberships.userId, users.id))
    .leftJoin(teams, and(eq(teams.id, memberships.teamId), isNull(teams.deletedAt)))
    .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)))
  const [first] = rows
  return first ? { userId: first.userId, isDeleted: first.deletedAt !== null, accounts: accountsOf(first.own, rows) } : null
}

/** The identities with which a user has signed in, at all providers. */
export function listIdentities(db: Database, userId: string): Promise<Pick<IdentityRow, 'issuer' | 'subject'>[]> {
  const { issuer, subject } = identities
  return db.select({ issuer, subject }).from(identities).where(eq(identities.userId, userId)).orderBy(issuer, subject)
}

/**
 * Deletes a user's identities (OIDC-15), records the time (DER-31), and ends what was opened with them, also as an operator (SESSION-17).
 */
export async function deleteIdentities(db: Database, userId: string, nowMs: number, note: Statement): Promise<void> {
  const discard = db.delete(identities).where(eq(identities.userId, userId))
  const noteWhen = db.update(users).set({ identitiesForgottenAt: nowMs }).where(eq(users.id, userId))
  const asOperator = [...endMadeAsOperator(db, userId, nowMs), endLinksMadeAsOperator(db, userId)]
  await db.batch([discard, note, noteWhen, endProviderSessions(db, userId, nowMs), ...asOperator])
}

/** Whether a user has signed in at a provider, with any subject. */
export async function hasIdentityAt(db: Database, issuer: string, userId: string): Promise<boolean> {
  const row = await db
    .select({ userId: identities.userId })
    .from(identities)
    .where(and(eq(identities.userId, userId), eq(identities.issuer, issuer)))
    .limit(1)
    .get()
  return row !== undefined
}

/**
 * Links an identity to an existing user, unless either has changed meanwhile. `unlinkedAt`: the time of the last deletion of identities
 * that the token was checked against; a newer one prevents the link (DER-31).
 */
export async function linkIdentity(db: Database, identity: IdentityRow, unlinkedAt: number | null, note: Note): Promise<void> {
  await db.batch([insertIdentity(db, identity, unlinkedAt), noteSignIn(db, 'users.link', identity, note)])
}

/** Creates a user with the personal team and an identity, all or nothing: nothing when the address or the identity is taken by then. */
export async function signUp(
  db: Database,
  user: Omit<UserRow, 'deletedAt' | 'identitiesForgottenAt'>,
  identity: IdentityRow,
  note: Note,
): Promise<void> {
  const { id, email, personalTeamId, createdAt } = user
  const isFree = sql`NOT EXISTS (SELECT 1 FROM users WHERE email = ${email})
    AND NOT EXISTS (SELECT 1 FROM identities WHERE issuer = ${identity.issuer} AND subject = ${identity.subject})`
  // The team's id is new: if it exists, the previous statement has created it.
  const isMade = sql`EXISTS (SELECT 1 FROM teams WHERE id = ${personalTeamId})`
  const unset = { runtimeClass: null, suspendedAt: null, deletedAt: null, plan: null, makerTeamId: null }
  const team = { id: personalTeamId, name: email, kind: 'PERSONAL', createdAt, ...unset } as const
  const owner = { teamId: personalTeamId, userId: id, role: 'OWNER', createdAt } as const
  await db.batch([
    db.insert(teams).select(selectOf(teams, team, sql`WHERE ${isFree}`)),
    db.insert(users).select(selectOf(users, { ...user, deletedAt: null, identitiesForgottenAt: null }, sql`WHERE ${isMade}`)),
    db.insert(memberships).select(selectOf(memberships, owner, sql`WHERE ${isMade}`)),
    insertIdentity(db, identity, null),
    noteSignIn(db, 'users.create', identity, note),
  ])
}

/** A user has one identity per provider: an address that the provider reassigns does not give its new holder the account (OIDC-8). */
function insertIdentity(db: Database, identity: IdentityRow, unlinkedAt: number | null): Statement {
  const { issuer, subject, userId } = identity
  const isThere = sql`EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND deleted_at IS NULL AND identities_forgotten_at IS ${unlinkedAt})`
  const isFirst = sql`NOT EXISTS (SELECT 1 FROM identities WHERE user_id = ${userId} AND issuer = ${issuer})`
  const isNew = sql`NOT EXISTS (SELECT 1 FROM identities WHERE issuer = ${issuer} AND subject = ${subject})`
  return db.insert(identities).select(selectOf(identities, identity, sql`WHERE ${isThere} AND ${isFirst} AND ${isNew}`))
}

function noteSignIn(db: Database, action: string, { userId, issuer, subject }: IdentityRow, note: Note): Statement {
  const resource = { action, resourceKind: 'user', resourceId: userId, before: null, after: { issuer, subject } }
  return insertAuditRow(db, { actorKind: 'SESSION', userId, requestId: null, ...resource, ...note })
}
