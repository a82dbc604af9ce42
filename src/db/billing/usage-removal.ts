import { sql } from 'drizzle-orm'
import type { Database } from '../client.ts'
import { usage, usageRemovals } from '../schema.ts'
import { selectOf } from '../select-of.ts'
import { ROW } from './usage.ts'

/** Condition on usage rows that the cost of a present run is computed from (SPD-2). */
const IS_OF_THE_LIVING = sql`(
  EXISTS (SELECT 1 FROM pods p WHERE p.id = usage.workload_id AND p.status <> 'TERMINATED' AND p.started_at <= usage.started_at)
  OR EXISTS (SELECT 1 FROM allocations a WHERE a.id = usage.workload_id AND a.kind = 'worker')
  OR EXISTS (SELECT 1 FROM network_volumes v WHERE v.id = usage.workload_id))`

/**
 * Deletes intervals that ended before `beforeMs`, at most `limit` of all teams; returns how many. Bills then refuse periods before that
 * time (BIL-42). Daily sums are retained.
 */
export async function deleteOldUsage(db: Database, beforeMs: number, limit: number): Promise<number> {
  const old = sql`SELECT rowid FROM usage WHERE ended_at < ${beforeMs} AND NOT ${IS_OF_THE_LIVING} ORDER BY ended_at LIMIT ${limit}`
  const [removed] = await db.batch([
    db.delete(usage).where(sql`${ROW} IN (${old})`),
    db
      .insert(usageRemovals)
      .select(selectOf(usageRemovals, { id: 1, untilMs: beforeMs }, sql`WHERE changes() > 0`))
      .onConflictDoUpdate({ target: usageRemovals.id, set: { untilMs: sql`MAX(until_ms, excluded.until_ms)` } }),
  ])
  return removed.meta.changes
}
