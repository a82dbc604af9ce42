import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../client.ts'
import { usage, usageRemovals } from '../schema.ts'
import { selectOf } from '../select-of.ts'
import { type MOVED, REMOVED, ROW } from './usage.ts'

/** Condition on usage rows that the cost of a present run is computed from (SPD-2). */
const IS_OF_THE_LIVING = sql`(
  EXISTS (SELECT 1 FROM pods p WHERE p.id = usage.workload_id AND p.status <> 'TERMINATED' AND p.started_at <= usage.started_at)
  OR EXISTS (SELECT 1 FROM allocations a WHERE a.id = usage.workload_id AND a.kind = 'worker')
  OR EXISTS (SELECT 1 FROM network_volumes v WHERE v.id = usage.workload_id))`

/**
 * Condition on usage rows that may leave the table. The last row stays, so that its number is never given out again: numbers identify
 * moved rows, and are the moments of bills.
 */
export const IS_MOVABLE = sql`NOT ${IS_OF_THE_LIVING} AND usage.rowid < (SELECT MAX(rowid) FROM usage)`

/** A statement that notes that intervals up to a time are no longer in the table. `rest`: its condition. */
export function raiseRemoval(db: Database, id: typeof REMOVED | typeof MOVED, untilMs: number, rest: SQL) {
  return db
    .insert(usageRemovals)
    .select(selectOf(usageRemovals, { id, untilMs }, rest))
    .onConflictDoUpdate({ target: usageRemovals.id, set: { untilMs: sql`MAX(until_ms, excluded.until_ms)` } })
}

/**
 * Deletes intervals that ended before `beforeMs`, at most `limit` of all teams; returns how many. Bills then refuse periods before that
 * time (BIL-42). Daily sums are retained.
 */
export async function deleteOldUsage(db: Database, beforeMs: number, limit: number): Promise<number> {
  const old = sql`SELECT rowid FROM usage WHERE ended_at < ${beforeMs} AND ${IS_MOVABLE} ORDER BY ended_at LIMIT ${limit}`
  const [removed] = await db.batch([
    db.delete(usage).where(sql`${ROW} IN (${old})`),
    raiseRemoval(db, REMOVED, beforeMs, sql`WHERE changes() > 0`),
  ])
  return removed.meta.changes
}
