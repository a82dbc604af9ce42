import { and, asc, desc, eq, gt, gte, inArray, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import { yieldThread } from '../platform/yield-thread.ts'
import type { AuditRow } from './audit.ts'
import type { Database } from './client.ts'
import { audit } from './schema.ts'

/** Filter of audit rows; an absent field filters nothing. Times in milliseconds, `toMs` exclusive. */
export interface AuditFilter {
  teamId?: string | undefined
  /** Only rows of this user. */
  userId?: string | undefined
  resourceId?: string | undefined
  /** A user id or a credential id. */
  actor?: string | undefined
  action?: string | undefined
  fromMs?: number | undefined
  toMs?: number | undefined
}

/** Rows that one statement filters: a few milliseconds. */
const PIECE = 5_000

/**
 * At most `limit` rows after the row `afterId`, newest first. Ids sort by time. No index has action and actor: rows are scanned some
 * thousand at a time, and other requests run in between (RATE-22).
 */
export async function listAudit(db: Database, filter: AuditFilter, afterId: string | null, limit: number): Promise<AuditRow[]> {
  const { actor, action } = filter
  if (actor === undefined && action === undefined) return selectAudit(db, inRange(filter, afterId), limit)
  const isWanted = and(
    actor === undefined ? undefined : or(eq(audit.userId, actor), eq(audit.credentialId, actor)),
    action === undefined ? undefined : eq(audit.action, action),
  )
  const found: AuditRow[] = []
  for (let after = afterId; ; ) {
    const range = inRange(filter, after)
    const [border] = await db.select({ id: audit.id }).from(audit).where(range).orderBy(desc(audit.id)).limit(1).offset(PIECE)
    const piece = and(range, isWanted, border && gte(audit.id, border.id))
    found.push(...(await selectAudit(db, piece, limit - found.length)))
    if (border === undefined || found.length >= limit) return found
    after = border.id
    await yieldThread()
  }
}

function selectAudit(db: Database, where: SQL | undefined, limit: number): Promise<AuditRow[]> {
  return db.select().from(audit).where(where).orderBy(desc(audit.id)).limit(limit).all()
}

/** The conditions that an index serves. */
function inRange({ teamId, userId, resourceId, fromMs, toMs }: AuditFilter, afterId: string | null): SQL | undefined {
  return and(
    teamId === undefined ? undefined : eq(audit.teamId, teamId),
    userId === undefined ? undefined : eq(audit.userId, userId),
    resourceId === undefined ? undefined : eq(audit.resourceId, resourceId),
    fromMs === undefined ? undefined : gte(audit.id, firstIdAt(fromMs)),
    toMs === undefined ? undefined : lt(audit.id, firstIdAt(toMs)),
    afterId === null ? undefined : lt(audit.id, afterId),
  )
}

/** Changes of one resource, of some kinds, around a time, oldest first: at most `limit` until it and `limit` after it. */
export async function findChanges(
  db: Database,
  teamId: string,
  resourceId: string,
  { kinds, atMs, limit }: { kinds: readonly string[]; atMs: number; limit: number },
): Promise<{ until: AuditRow[]; since: AuditRow[] }> {
  const own = and(eq(audit.teamId, teamId), eq(audit.resourceId, resourceId), inArray(audit.resourceKind, [...kinds]))
  // Rows of the same millisecond are ordered as they were written.
  const [until, since] = await db.batch([
    db
      .select()
      .from(audit)
      .where(and(own, lte(audit.at, atMs)))
      .orderBy(desc(audit.at), sql`rowid DESC`)
      .limit(limit),
    db
      .select()
      .from(audit)
      .where(and(own, gt(audit.at, atMs)))
      .orderBy(asc(audit.at), sql`rowid`)
      .limit(limit),
  ])
  return { until: until.reverse(), since }
}

/** Deletes rows from before `beforeMs`, at most `limit` of all accounts; returns how many. */
export async function deleteOldAudit(db: Database, beforeMs: number, limit: number): Promise<number> {
  const old = db.select({ id: audit.id }).from(audit).where(lt(audit.at, beforeMs)).orderBy(audit.at).limit(limit)
  return (await db.delete(audit).where(inArray(audit.id, old))).meta.changes
}

// In the form in which ids of `newAuditId` begin.
function firstIdAt(ms: number): string {
  return Math.max(0, ms).toString(36).padStart(9, '0')
}
