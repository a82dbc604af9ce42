import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { totalNanos } from '../../domain/money.ts'
import type { ChargedTime } from '../../domain/worker/timeline.ts'
import type { Database } from '../client.ts'
import { isOneOf } from '../one-of.ts'
import { allocations, usage } from '../schema.ts'

/** A charged interval of a worker. Times in milliseconds since the epoch. */
export interface WorkerRate extends ChargedTime {
  workerId: string
}

/** The charged intervals of some workers of a team, closed and open. */
export async function readWorkerRates(db: Database, teamId: string, workerIds: string[]): Promise<WorkerRate[]> {
  if (workerIds.length === 0) return []
  // Found by the ids: a team may have charges of years.
  const [closed, open] = await db.batch([
    db
      .select()
      .from(usage)
      .where(and(isOneOf(usage.workloadId, workerIds), eq(sql`+${usage.teamId}`, teamId))),
    db
      .select()
      .from(allocations)
      .where(and(isOneOf(allocations.id, workerIds), eq(sql`+${allocations.teamId}`, teamId), isNotNull(allocations.chargedFromMs))),
  ])
  return [
    ...closed.map((row) => ({ workerId: row.workloadId, fromMs: row.startedAtMs, toMs: row.endedAtMs, nanosPerHour: totalNanos(row) })),
    ...open.map((row) => ({ workerId: row.id, fromMs: row.chargedFromMs ?? 0, toMs: null, nanosPerHour: totalNanos(row) })),
  ]
}
