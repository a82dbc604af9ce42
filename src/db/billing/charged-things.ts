import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../client.ts'
import { rowsInPieces } from '../rows-in-pieces.ts'
import { allocations, networkVolumes, pods } from '../schema.ts'

/** Rows that one statement reads: a few milliseconds. */
const PAGE = 250
// Verbatim as in the partial index.
const IS_LIVE = sql`${pods.status} <> 'TERMINATED'`

interface Place {
  at: number
  id: string
}
/** Chargeable resources of a team, in the order of an index on its team. */
const THINGS = {
  pods: { table: pods, id: pods.id, at: sql<number>`${pods.createdAtMs}`, team: pods.teamId, where: IS_LIVE },
  workers: {
    table: allocations,
    id: allocations.id,
    at: sql<number>`${allocations}.rowid`,
    team: allocations.teamId,
    where: eq(allocations.kind, 'worker'),
  },
  volumes: {
    table: networkVolumes,
    id: networkVolumes.id,
    at: sql<number>`${networkVolumes.createdAt}`,
    team: networkVolumes.teamId,
    where: undefined,
  },
}

/** Conditions that select all resources of a kind, one page each; other requests run in between (BIL-41). */
export async function* pagesOf(db: Database, kind: keyof typeof THINGS, teamId: string): AsyncGenerator<SQL> {
  const { table, id, at, team, where } = THINGS[kind]
  const read = async (after: Place | null, limit: number) => {
    const behind = after && (kind === 'workers' ? sql`${at} > ${after.at}` : sql`(${at}, ${id}) > (${after.at}, ${after.id})`)
    const rows = await db
      .select({ id, at })
      .from(table)
      .where(and(eq(team, teamId), where, behind ?? undefined))
      .orderBy(...(kind === 'workers' ? [at] : [at, id]))
      .limit(limit)
    return rows.map((position) => ({ id: position.id, position }))
  }
  for await (const rows of rowsInPieces<{ id: string; position: Place }, Place>(null, Number.POSITIVE_INFINITY, read, PAGE)) {
    if (rows.length > 0) yield sql`${id} IN (SELECT value FROM json_each(${JSON.stringify(rows.map((row) => row.id))}))`
  }
}
