import { and, desc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { endOfDelegation } from '../../domain/resources/delegation.ts'
import type { EcrRepository } from '../../domain/resources/ecr.ts'
import { isUserActive, suspendedSince } from '../accounts/suspension.ts'
import { hasRoom } from '../bounds.ts'
import type { Database, Statement } from '../client.ts'
import { delegations, memberships } from '../schema.ts'
import { selectOf } from '../select-of.ts'

export type DelegationRow = typeof delegations.$inferSelect
/** A delegation judged by the current state of its maker (DER-24); `endedBecause` null: it is valid. */
export type JudgedDelegation = DelegationRow & { endedBecause: string | null }

/** Stores a delegation; false when the account has reached the bound. `together`: statements that depend on whether it was stored. */
export async function insertDelegation(db: Database, row: DelegationRow, together: readonly Statement[]): Promise<boolean> {
  const [result] = await db.batch([
    db.insert(delegations).select(selectOf(delegations, row, sql`WHERE ${hasRoom(delegations, row.teamId)}`)),
    ...together,
  ])
  return result.meta.changes > 0
}

/** A team's delegations, newest first. */
export function listDelegations(db: Database, teamId: string): Promise<JudgedDelegation[]> {
  return judged(db, teamId, undefined)
}

/** The delegations of a team for a repository, valid or ended; newest first. */
export function findDelegations(db: Database, teamId: string, { account, region, repository }: EcrRepository): Promise<JudgedDelegation[]> {
  const { awsUser, awsRegion } = delegations
  return judged(db, teamId, and(eq(awsUser, account), eq(awsRegion, region), eq(delegations.repository, repository)))
}

async function judged(db: Database, teamId: string, which: SQL | undefined): Promise<JudgedDelegation[]> {
  const { delegatorUserId } = delegations
  const rows = await db
    .select({
      ...getTableColumns(delegations),
      role: memberships.role,
      joinedAtMs: memberships.createdAt,
      isSuspended: sql<number>`${suspendedSince(delegations.teamId)} IS NOT NULL OR NOT ${isUserActive(sql`${delegatorUserId}`)}`,
    })
    .from(delegations)
    .leftJoin(memberships, and(eq(memberships.teamId, delegations.teamId), eq(memberships.userId, delegatorUserId)))
    .where(and(eq(delegations.teamId, teamId), which))
    .orderBy(desc(delegations.createdAt), desc(delegations.id))
  return rows.map(({ role, joinedAtMs, isSuspended, ...row }) => ({
    ...row,
    endedBecause: endOfDelegation(row.createdAt, { role, joinedAtMs, isSuspended: isSuspended === 1 }),
  }))
}

/** Deletes a team's delegation; false when there is none. */
export async function deleteDelegation(db: Database, teamId: string, id: string, together: readonly Statement[]): Promise<boolean> {
  const [result] = await db.batch([db.delete(delegations).where(and(eq(delegations.teamId, teamId), eq(delegations.id, id))), ...together])
  return result.meta.changes > 0
}
