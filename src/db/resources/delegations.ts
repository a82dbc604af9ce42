import { and, desc, eq, sql } from 'drizzle-orm'
import type { EcrRepository } from '../../domain/resources/ecr.ts'
import { hasRoom } from '../bounds.ts'
import type { Database, Statement } from '../client.ts'
import { delegations } from '../schema.ts'

export type DelegationRow = typeof delegations.$inferSelect

/** Stores a delegation; false when the account has as many as it may have. `together` is for statements that look at whether it was stored. */
export async function insertDelegation(db: Database, row: DelegationRow, together: readonly Statement[]): Promise<boolean> {
  const { id, teamId, name, delegatorUserId, awsUser, awsRegion, repository, tag, createdAt } = row
  const [result] = await db.batch([
    db.insert(delegations).select(
      sql`SELECT ${id}, ${teamId}, ${name}, ${delegatorUserId}, ${awsUser}, ${awsRegion}, ${repository}, ${tag}, ${createdAt}
          WHERE ${hasRoom(delegations, teamId)}`,
    ),
    ...together,
  ])
  return result.meta.changes > 0
}

/** A team's delegations, newest first. */
export function listDelegations(db: Database, teamId: string): Promise<DelegationRow[]> {
  return db
    .select()
    .from(delegations)
    .where(eq(delegations.teamId, teamId))
    .orderBy(desc(delegations.createdAt), desc(delegations.id))
    .all()
}

/** The newest delegation by which a team may pull from a repository, or undefined. */
export function findDelegation(db: Database, teamId: string, { account, region, repository }: EcrRepository) {
  const { awsUser, awsRegion } = delegations
  const isIt = and(eq(awsUser, account), eq(awsRegion, region), eq(delegations.repository, repository))
  return db
    .select({ delegatorUserId: delegations.delegatorUserId })
    .from(delegations)
    .where(and(eq(delegations.teamId, teamId), isIt))
    .orderBy(desc(delegations.createdAt), desc(delegations.id))
    .limit(1)
    .get()
}

/** Deletes a team's delegation; false when there is none. */
export async function deleteDelegation(db: Database, teamId: string, id: string, together: readonly Statement[]): Promise<boolean> {
  const [result] = await db.batch([db.delete(delegations).where(and(eq(delegations.teamId, teamId), eq(delegations.id, id))), ...together])
  return result.meta.changes > 0
}
