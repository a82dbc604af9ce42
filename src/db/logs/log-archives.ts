import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { LogKind } from '../../host-protocol/logs.ts'
import { isShared, withinBudget } from '../accounts/budgets.ts'
import type { Database } from '../client.ts'
import { logArchives } from '../tables/workloads/log-archives.ts'

/** One log: the id of its pod, or of its worker's workload; and its owner, the pod or the endpoint. */
export interface ArchivedLog {
  kind: LogKind
  id: string
  ownerId: string
}

/** Records the size of a log in the bucket; false when it exceeds the account's budget, and then nothing is recorded. */
export async function takeLogBytes(db: Database, log: ArchivedLog, bytes: number, nowMs: number): Promise<boolean> {
  const before = sql`(SELECT bytes FROM log_archives WHERE kind = ${log.kind} AND id = ${log.id})`
  const hasRoom = withinBudget(sql`owner.team_id`, 'logBytes', sql`${bytes} - COALESCE(${before}, 0)`)
  const rows = await db.values(sql`INSERT INTO log_archives (kind, id, team_id, bytes, written_at)
    SELECT ${log.kind}, ${log.id}, owner.team_id, ${bytes}, ${nowMs} FROM ${ownerOf(log)} owner WHERE ${hasRoom}
    ON CONFLICT (kind, id) DO UPDATE SET bytes = excluded.bytes, written_at = excluded.written_at RETURNING 1`)
  return rows.length > 0
}

/** The account's log that was written to longest ago; null when none is in the bucket. */
export async function findOldestLog(db: Database, log: ArchivedLog): Promise<Pick<ArchivedLog, 'kind' | 'id'> | null> {
  const [row] = await db.values<[LogKind, string]>(sql`SELECT kind, id FROM log_archives
    WHERE ${isShared(sql`(SELECT team_id FROM ${ownerOf(log)})`)} ORDER BY written_at, id LIMIT 1`)
  return row ? { kind: row[0], id: row[1] } : null
}

/** Deletes the record of a log that the bucket does not have any more. */
export async function deleteLogBytes(db: Database, { kind, id }: Pick<ArchivedLog, 'kind' | 'id'>): Promise<void> {
  await db.delete(logArchives).where(and(eq(logArchives.kind, kind), eq(logArchives.id, id)))
}

function ownerOf({ kind, ownerId }: ArchivedLog): SQL {
  return kind === 'pod' ? sql`(SELECT team_id FROM pods WHERE id = ${ownerId})` : sql`(SELECT team_id FROM endpoints WHERE id = ${ownerId})`
}
