import { sql } from 'drizzle-orm'
import type { Database } from '../client.ts'

/** A pod that the platform stops or terminates at a set time, and the next such time in milliseconds since the epoch. */
export interface TimedPodRef {
  id: string
  hostId: string
  dueMs: number
}

// Later than any time that a request can state.
const NEVER = sql`9007199254740991`
// A locked pod is not stopped (POD-63).
const STOP_DUE = sql`CASE WHEN locked = 0 THEN stop_after END`
const DUE = sql`MIN(COALESCE(${STOP_DUE}, ${NEVER}), COALESCE(terminate_after, ${NEVER}))`

/** Pods of a host with such a time, soonest first. */
export function listTimedPodsOfHost(db: Database, hostId: string, limit: number): Promise<TimedPodRef[]> {
  return db.all<TimedPodRef>(sql`SELECT id, host_id AS hostId, ${DUE} AS dueMs FROM pods
    WHERE host_id = ${hostId} AND status <> 'TERMINATED' AND (${STOP_DUE} IS NOT NULL OR terminate_after IS NOT NULL)
    ORDER BY dueMs, id LIMIT ${limit}`)
}

/**
 * Pods of any host whose time was before `beforeMs`, by index: for a UNION without ALL SQLite would read every pod in the order of its id.
 */
export function listOverduePods(db: Database, beforeMs: number, limit: number): Promise<TimedPodRef[]> {
  return db.all<TimedPodRef>(sql`SELECT id, host_id AS hostId, ${DUE} AS dueMs FROM pods WHERE id IN (
      SELECT id FROM pods WHERE stop_after < ${beforeMs} AND locked = 0 AND status <> 'TERMINATED'
      UNION ALL SELECT id FROM pods WHERE terminate_after < ${beforeMs} AND status <> 'TERMINATED')
    ORDER BY dueMs, id LIMIT ${limit}`)
}
