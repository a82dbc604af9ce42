import { and, eq, getTableColumns, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { VolumeType } from '../../contract/enums.ts'
import { type ArchivedObject, type ArchivePart, monthEnd, partOf } from '../../domain/billing/usage-archive.ts'
import type { Database } from '../client.ts'
import { usage, usageArchives } from '../schema.ts'
import { selectOf } from '../select-of.ts'
import { MOVED, REMOVED, ROW } from './usage.ts'
import { IS_MOVABLE, raiseRemoval } from './usage-removal.ts'

/** A row of `usage_archives`. */
export type ArchiveRow = typeof usageArchives.$inferSelect

// Verbatim as in the partial index.
const IS_STORED = sql`${usageArchives.state} = 'STORED'`
const IS_UNFINISHED = sql`${usageArchives.state} <> 'STORED'`

const isWriting = (sinceMs: number) =>
  sql`EXISTS (SELECT 1 FROM usage_archives WHERE state <> 'STORED' AND state = 'WRITING' AND changed_at > ${sinceMs})`

/** Which intervals may be moved now. */
export interface MovingRules {
  /** Only those that ended before. */
  untilMs: number
  /** None while another object has been WRITING since. */
  writingSinceMs: number
  /** None of a part that got an object of fewer than `fullRows` since: what ends late would otherwise get an object for each interval. */
  waitSinceMs: number
  fullRows: number
}

const MONTH = sql`unixepoch(usage.ended_at / 1000, 'unixepoch', 'start of month') * 1000`

/** The part with the oldest interval that may be moved; null when there is none. */
export async function findMovablePart(
  db: Database,
  { untilMs, writingSinceMs, waitSinceMs, fullRows }: MovingRules,
): Promise<ArchivePart | null> {
  const waits = sql`EXISTS (SELECT 1 FROM usage_archives a WHERE a.state = 'STORED' AND a.team_id = usage.team_id AND a.kind = usage.kind
    AND a.ended_at >= ${MONTH} AND a.month_ms = ${MONTH} AND a.rows < ${fullRows} AND a.changed_at > ${waitSinceMs})`
  const [row] = await db
    .select({ teamId: usage.teamId, kind: usage.kind, endedAtMs: usage.endedAtMs })
    .from(usage)
    .where(and(lt(usage.endedAtMs, untilMs), IS_MOVABLE, sql`NOT ${waits}`, sql`NOT ${isWriting(writingSinceMs)}`))
    .orderBy(usage.endedAtMs)
    .limit(1)
  return row ? partOf(row) : null
}

/** At most `limit` intervals of a part that may be moved, with their row numbers. */
export async function readMovable(db: Database, part: ArchivePart, limit: number) {
  const { teamId, kind, monthMs } = part
  return db
    .select({ row: ROW.as('row'), ...getTableColumns(usage), volumeType: sql<VolumeType | null>`${usage.volumeType}` })
    .from(usage)
    .where(
      and(eq(usage.teamId, teamId), eq(usage.kind, kind), gte(usage.endedAtMs, monthMs), lt(usage.endedAtMs, monthEnd(part)), IS_MOVABLE),
    )
    .orderBy(usage.endedAtMs)
    .limit(limit)
}

/** Notes that an object is about to be written; false while another one is being written. */
export async function beginArchive(db: Database, row: ArchiveRow, writingSinceMs: number): Promise<boolean> {
  const isFree = sql`WHERE NOT ${isWriting(writingSinceMs)}`
  const { meta } = await db.insert(usageArchives).select(selectOf(usageArchives, row, isFree))
  return meta.changes > 0
}

/**
 * Makes an object that was verified count instead of the rows of its intervals, which are deleted in the same batch. False if it was given
 * up meanwhile, or if a row is gone: then nothing changes.
 */
export async function storeArchive(db: Database, { id, endedAtMs }: ArchiveRow, rows: readonly number[], nowMs: number): Promise<boolean> {
  const areThose = sql`${ROW} IN (SELECT value FROM json_each(${JSON.stringify(rows)}))`
  const areAllThere = sql`(SELECT COUNT(*) FROM usage WHERE ${areThose}) = ${rows.length}`
  const isStored = sql`EXISTS (SELECT 1 FROM usage_archives WHERE id = ${id} AND state = 'STORED')`
  const [stored] = await db.batch([
    db
      .update(usageArchives)
      .set({ state: 'STORED', changedAtMs: nowMs })
      .where(and(eq(usageArchives.id, id), eq(usageArchives.state, 'WRITING'), areAllThere)),
    db.delete(usage).where(and(areThose, isStored)),
    raiseRemoval(db, MOVED, endedAtMs + 1, sql`WHERE ${isStored}`),
  ])
  return stored.meta.changes > 0
}

/** Gives up an object that is not stored, so that it is deleted. */
export async function giveUpArchive(db: Database, id: string, nowMs: number): Promise<void> {
  await db
    .update(usageArchives)
    .set({ state: 'REMOVING', changedAtMs: nowMs })
    .where(and(eq(usageArchives.id, id), eq(usageArchives.state, 'WRITING')))
}

/**
 * Gives up objects whose writing began before `writingSinceMs`, and at most `limit` whose intervals all ended before `beforeMs`. Bills then
 * refuse periods before that time (BIL-42).
 */
export async function giveUpArchives(db: Database, writingSinceMs: number, beforeMs: number, limit: number, nowMs: number): Promise<void> {
  const old = sql`SELECT id FROM usage_archives WHERE state = 'STORED' AND ended_at < ${beforeMs} ORDER BY ended_at LIMIT ${limit}`
  const removing = { state: 'REMOVING' as const, changedAtMs: nowMs }
  await db.batch([
    db
      .update(usageArchives)
      .set(removing)
      .where(and(IS_UNFINISHED, eq(usageArchives.state, 'WRITING'), lt(usageArchives.changedAtMs, writingSinceMs))),
    db.update(usageArchives).set(removing).where(sql`id IN (${old})`),
    raiseRemoval(db, REMOVED, beforeMs, sql`WHERE changes() > 0`),
  ])
}

/** At most `limit` objects that are to be deleted. */
export async function listGivenUp(db: Database, limit: number): Promise<ArchiveRow[]> {
  return db
    .select()
    .from(usageArchives)
    .where(and(IS_UNFINISHED, eq(usageArchives.state, 'REMOVING')))
    .limit(limit)
}

/** Deletes the rows of objects that have been deleted. */
export async function deleteArchiveRows(db: Database, ids: readonly string[]): Promise<void> {
  await db.delete(usageArchives).where(sql`id IN (SELECT value FROM json_each(${JSON.stringify(ids)})) AND state = 'REMOVING'`)
}

/** At most `limit` stored objects of a team with intervals that may overlap a period. */
export async function listArchives(
  db: Database,
  { teamId, kinds }: { teamId: string; kinds: readonly ArchivePart['kind'][] },
  { startMs, endMs }: { startMs: number; endMs: number },
  limit: number,
): Promise<ArchivedObject[]> {
  const overlaps: SQL = sql`${usageArchives.endedAtMs} > ${startMs} AND ${usageArchives.startedAtMs} < ${endMs}`
  const found: ArchivedObject[] = []
  const reads = kinds.map((kind) =>
    db
      .select()
      .from(usageArchives)
      .where(and(IS_STORED, eq(usageArchives.teamId, teamId), eq(usageArchives.kind, kind), overlaps))
      .orderBy(usageArchives.endedAtMs)
      .limit(limit),
  )
  const [first, ...others] = reads
  for (const rows of first ? await db.batch([first, ...others]) : []) found.push(...rows)
  return found.slice(0, limit)
}
