import { and, desc, eq, sql } from 'drizzle-orm'
import { hasLabels, type Labels } from '../../domain/pod/labels.ts'
import type { Database } from '../client.ts'
import { type ListPosition, rowsInPieces } from '../rows-in-pieces.ts'
import { pods } from '../schema.ts'

/** Most labelled pods that one page examines, matching or not (LBL-5). */
const MAX_EXAMINED = 1_000

// Verbatim as in the partial index, which holds all columns that this query reads. Terminated pods have no labels (LBL-3).
const IS_LABELLED = sql`${pods.labels} <> '{}'`

/** Positions of pods that match a filter, and how far the search went. */
export interface LabelMatches {
  matches: ListPosition[]
  examined: number
  /** The position behind which unexamined pods may follow; null: none follow. */
  end: ListPosition | null
}

/** The first `limit` of a team's live pods behind `after` that match all filters, newest first. */
export async function matchLabels(
  db: Database,
  teamId: string,
  after: ListPosition | null,
  limit: number,
  filters: readonly string[],
): Promise<LabelMatches> {
  const matches: ListPosition[] = []
  let examined = 0
  let end: ListPosition | null = null
  for await (const piece of rowsInPieces(after, MAX_EXAMINED, (behind, size) => selectLabels(db, teamId, behind, size))) {
    examined += piece.length
    matches.push(...piece.filter(({ labels }) => hasLabels(labels, filters)).map(({ position }) => position))
    if (matches.length >= limit) return { matches: matches.slice(0, limit), examined, end: matches.at(limit - 1) ?? null }
    end = examined < MAX_EXAMINED ? null : (piece.at(-1)?.position ?? end)
  }
  return { matches, examined, end }
}

async function selectLabels(db: Database, teamId: string, after: ListPosition | null, limit: number) {
  const older = after && sql`(${pods.createdAtMs}, ${pods.id}) < (${after.createdAt}, ${after.id})`
  const rows: { createdAt: number; id: string; labels: Labels }[] = await db
    .select({ createdAt: pods.createdAtMs, id: pods.id, labels: pods.labels })
    .from(pods)
    .where(and(eq(pods.teamId, teamId), IS_LABELLED, ...(older ? [older] : [])))
    .orderBy(desc(pods.createdAtMs), desc(pods.id))
    .limit(limit)
  return rows.map(({ createdAt, id, labels }) => ({ labels, position: { createdAt, id } }))
}
