import { and, eq, sql } from 'drizzle-orm'
import { hasLabels, type Labels } from '../../domain/pod/labels.ts'
import type { Database } from '../client.ts'
import { isBehind, orderOf, positionOf } from '../list-order.ts'
import { type ListPosition, rowsInPieces } from '../rows-in-pieces.ts'
import { pods } from '../schema.ts'
import { conditionsOf, POD_ORDER, type PodFilter } from './pod-filter.ts'

/** Most labelled pods that one page examines, matching or not (LBL-5). */
const MAX_EXAMINED = 1_000

// Verbatim as in the partial index, which holds all columns that this query reads. Terminated pods have no labels (LBL-3).
const IS_LABELLED = sql`${pods.labels} <> '{}'`
const IS_LIVE = sql`${pods.status} <> 'TERMINATED'`

/** Positions of pods that match a filter, and how far the search went. */
export interface LabelMatches {
  matches: ListPosition[]
  examined: number
  /** The position behind which unexamined pods may follow; null: none follow. */
  end: ListPosition | null
}

/** The first `limit` of a team's live pods behind `after` that match a filter with labels, in its order. */
export async function matchLabels(
  db: Database,
  teamId: string,
  after: ListPosition | null,
  limit: number,
  filter: PodFilter,
): Promise<LabelMatches> {
  const matches: ListPosition[] = []
  let examined = 0
  let end: ListPosition | null = null
  for await (const piece of rowsInPieces(after, MAX_EXAMINED, (behind, size) => selectLabels(db, teamId, behind, size, filter))) {
    examined += piece.length
    matches.push(...piece.filter(({ labels, isMatch }) => isMatch && hasLabels(labels, filter.labels)).map(({ position }) => position))
    if (matches.length >= limit) return { matches: matches.slice(0, limit), examined, end: matches.at(limit - 1) ?? null }
    end = examined < MAX_EXAMINED ? null : (piece.at(-1)?.position ?? end)
  }
  return { matches, examined, end }
}

async function selectLabels(db: Database, teamId: string, after: ListPosition | null, limit: number, filter: PodFilter) {
  const { sort } = filter
  // Not a condition of the statement, which would read any number of pods without a match.
  const isMatch = and(...conditionsOf(filter))
  const rows: { createdAt: number; id: string; name?: string; labels: Labels; isMatch?: number }[] = await db
    .select({
      createdAt: pods.createdAtMs,
      id: pods.id,
      labels: pods.labels,
      ...(sort === 'name' && { name: pods.name }),
      ...(isMatch && { isMatch: sql<number>`${isMatch}` }),
    })
    .from(pods)
    // In order of names the index of names is read, with unlabelled pods.
    .where(and(eq(pods.teamId, teamId), sort === 'name' ? IS_LIVE : IS_LABELLED, isBehind(POD_ORDER, sort, after)))
    .orderBy(...orderOf(POD_ORDER, sort))
    .limit(limit)
  return rows.map(({ createdAt, id, name = '', labels, isMatch: matches = 1 }) => ({
    labels,
    isMatch: matches === 1,
    position: positionOf(sort, { createdAt, id, name }),
  }))
}
