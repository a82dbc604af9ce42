import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { LogKind } from '../../host-protocol/logs.ts'
import { isShared, withinBudget } from '../accounts/budgets.ts'
import type { Database } from '../client.ts'
import { logArchives } from '../tables/workloads/log-archives.ts'

/** One log: of a pod its id, of a worker that of its workload; and whose it is, the pod or the endpoint. */
export interface ArchivedLog {
  kind: LogKind
  id: string
  ownerId: string
}

/** Notes that a log is to have so many bytes in the bucket; false when its account has no room for them, and then nothing is noted. */
export async function takeLogBytes(db: Database, log: ArchivedLog, bytes: number, nowMs: number): Promise<boolean> {
  const before = sql`(SELECT bytes FROM log_archives WHERE kind = ${log.kind} AND id = ${log.id})`
  const hasRoom = withinBudget(sql`owner.team_id`, 'logBytes', sql`${bytes} - COALESCE(${before}, 0)`)
  const rows = await db.values(sql`INSERT INTO log_archives (kind, id, team_id, bytes, written_at)
    SELECT ${log.kind}, ${log.id}, owner.team_id, ${bytes}, ${nowMs} FROM ${ownerOf(log)} owner WHERE ${hasRoom}
    ON CONFLICT (kind, id) DO UPDATE SET bytes = excluded.bytes, written_at = excluded.written_at RETURNING 1`)
  return rows.length > 0
}

/** Of all logs of the account the one that was written to longest ago; null when it has none in the bucket. */
export async function findOldestLog(db: Database, log: ArchivedLog): Promise<Pick<ArchivedLog, 'kind' | 'id'> | null> {
  const [row] = await db.values<[LogKind, string]>(sql`SELECT kind, id FROM log_archives
    WHERE ${isShared(sql`(SELECT team_id FROM ${ownerOf(log)})`)} ORDER BY written_at, id LIMIT 1`)
  return row ? { kind: row[0], id: row[1] } : null
}

/** The bucket has nothing of a log any more. */
export async function forgetLogBytes(db: Database, { kind, id }: Pick<ArchivedLog, 'kind' | 'id'>): Promise<void> {
  await db.delete(logArchives).where(and(eq(logArchives.kind, kind), eq(logArchives.id, id)))
}

function ownerOf({ kind, ownerId }: ArchivedLog): SQL {
  return kind === 'pod' ? sql`(SELECT team_id FROM pods WHERE id = ${ownerId})` : sql`(SELECT team_id FROM endpoints WHERE id = ${ownerId})`
}
