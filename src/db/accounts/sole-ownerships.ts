import { and, asc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../client.ts'
import * as schema from '../schema.ts'

/**
 * Organizations that a user owns without another owner, by name: without the user they have no one who runs them. `counts`: conditions on
 * the other owners `o` that count; `more`: conditions on the organizations.
 */
export function listSoleOwnerships(
  db: Database,
  userId: string,
  counts: readonly SQL[] = [],
  more: readonly SQL[] = [],
): Promise<{ id: string; name: string }[]> {
  const { memberships, teams } = schema
  const isOther = and(sql`o.team_id = ${teams.id} AND o.role = 'OWNER' AND o.user_id <> ${userId}`, ...counts)
  return db
    .select({ id: teams.id, name: teams.name })
    .from(memberships)
    .innerJoin(teams, eq(teams.id, memberships.teamId))
    .where(
      and(
        eq(memberships.userId, userId),
        eq(memberships.role, 'OWNER'),
        eq(teams.kind, 'ORGANIZATION'),
        isNull(teams.deletedAt),
        sql`NOT EXISTS (SELECT 1 FROM memberships o WHERE ${isOther})`,
        ...more,
      ),
    )
    .orderBy(asc(teams.name))
    .all()
}
