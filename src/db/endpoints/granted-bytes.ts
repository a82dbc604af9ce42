import { sql } from 'drizzle-orm'
import { isShared, readBudgets, withinBudget } from '../accounts/budgets.ts'
import type { Database } from '../client.ts'
import { endpoints } from '../tables/workloads/endpoints.ts'

/** Result of a grant of storage; when the team's budget is exceeded, its use and bound. */
export type Grant = { ok: true } | { ok: false; used: number; bound: number }

/**
 * Reserves bytes of the team's budget for the queue of an endpoint, replacing its earlier grant (BUDGET-3). A smaller grant than before is
 * always allowed.
 */
export async function grantBytes(db: Database, teamId: string, endpointId: string, bytes: number): Promise<Grant> {
  const others = sql`(SELECT COALESCE(SUM(granted_bytes), 0) FROM endpoints
    WHERE ${isShared(teamId)} AND deleted_at IS NULL AND id <> ${endpointId})`
  const hasRoom = sql`(${bytes} <= granted_bytes OR ${withinBudget(teamId, 'queuedBytes', bytes, others)})`
  const result = await db
    .update(endpoints)
    .set({ grantedBytes: bytes })
    .where(sql`id = ${endpointId} AND team_id = ${teamId} AND deleted_at IS NULL AND ${hasRoom}`)
  if (result.meta.changes > 0) return { ok: true }
  return { ok: false, ...(await readBudgets(db, teamId, ['queuedBytes'])).queuedBytes }
}
