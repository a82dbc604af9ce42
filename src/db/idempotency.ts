import { and, eq, isNull, lt, sql } from 'drizzle-orm'
import { IDEMPOTENCY_RETENTION_MS, MAX_ANSWER_BYTES } from '../domain/idempotency.ts'
import type { Place } from '../platform/seal.ts'
import { withinBudget } from './accounts/budgets.ts'
import type { Database, Statement } from './client.ts'
import { refusalOf, refuse } from './refusals.ts'
import { idempotencyKeys } from './schema.ts'
import { selectOf } from './select-of.ts'

/** The vault place of a sealed first answer. */
export function placeOfAnswer({ teamId, operation, key }: KeyName): Place {
  return ['idempotency keys', teamId, operation, key, 'response']
}

/** A claim without an answer for this long is abandoned: no request runs that long. */
export const CLAIM_TTL_MS = 60_000
/** Expired rows that are deleted with one claim. */
const REMOVED_WITH_A_CLAIM = 50

export type IdempotencyRow = typeof idempotencyKeys.$inferSelect
/** Identifies a key: account, operation and key. */
export type KeyName = Pick<IdempotencyRow, 'teamId' | 'operation' | 'key'>

/** Use of a new key of its team's budgets (IDEM-3). */
export const KEY_TAKES = { keptAnswers: 1, keptAnswerBytes: MAX_ANSWER_BYTES } as const

/**
 * Claims a key unless a request holds it, and returns its row: the caller holds the key if `claim` is its own (POD-22). Null: the key is
 * new and exceeds the team's budgets.
 */
export async function claimKey(db: Database, claimed: Omit<IdempotencyRow, 'response'>): Promise<IdempotencyRow | null> {
  const { teamId, claim, fingerprint, claimedAt: nowMs } = claimed
  const isAbandoned = and(isNull(idempotencyKeys.response), lt(idempotencyKeys.claimedAt, nowMs - CLAIM_TTL_MS))
  const isKnown = sql`EXISTS (SELECT 1 FROM idempotency_keys WHERE ${named(claimed)})`
  const hasRoom = sql.join(
    Object.entries(KEY_TAKES).map(([name, more]) => withinBudget(teamId, name as keyof typeof KEY_TAKES, more)),
    sql` AND `,
  )
  const [, , , [row]] = await db.batch([
    deleteExpired(db, nowMs, REMOVED_WITH_A_CLAIM),
    // Expired keys of the team do not count against the budget.
    db.delete(idempotencyKeys).where(and(eq(idempotencyKeys.teamId, teamId), isExpired(nowMs))),
    db
      .insert(idempotencyKeys)
      .select(selectOf(idempotencyKeys, { ...claimed, response: null }, sql`WHERE ${isKnown} OR (${hasRoom})`))
      .onConflictDoUpdate({
        target: [idempotencyKeys.teamId, idempotencyKeys.operation, idempotencyKeys.key],
        set: { claim, fingerprint, claimedAt: nowMs, response: null },
        setWhere: sql`${isAbandoned}`,
      }),
    db.select().from(idempotencyKeys).where(named(claimed)),
  ])
  return row ?? null
}

/**
 * Stores the answer under a key, directly after the statement of the batch that creates the resource: if that created nothing, no answer is
 * stored. The batch fails as a whole when another request has taken over the claim.
 */
export function storeResponse(db: Database, name: KeyName, claim: string, response: string): Statement {
  const mine = sql`(SELECT team_id FROM idempotency_keys WHERE ${and(named(name), eq(idempotencyKeys.claim, claim))})`
  const answered = { ...name, teamId: sql`COALESCE(${mine}, ${refuse('claim')})`, claim, fingerprint: '', claimedAt: 0, response }
  return db
    .insert(idempotencyKeys)
    .select(selectOf(idempotencyKeys, answered, sql`WHERE changes() > 0`))
    .onConflictDoUpdate({
      target: [idempotencyKeys.teamId, idempotencyKeys.operation, idempotencyKeys.key],
      set: { response: sql`excluded.response` },
    })
}

/** Whether a batch failed because the claim of `storeResponse` was taken over. */
export function isClaimLost(error: unknown): boolean {
  return refusalOf(error) === 'claim'
}

/** Releases a key after a refusal, so that it can be used again. A stored answer stays. */
export async function releaseKey(db: Database, name: KeyName, claim: string): Promise<void> {
  await db.delete(idempotencyKeys).where(and(named(name), eq(idempotencyKeys.claim, claim), isNull(idempotencyKeys.response)))
}

/** Deletes expired keys, at most `limit` of all teams; returns how many (IDEM-3). */
export async function deleteExpiredKeys(db: Database, nowMs: number, limit: number): Promise<number> {
  return (await deleteExpired(db, nowMs, limit)).meta.changes
}

function isExpired(nowMs: number) {
  return lt(idempotencyKeys.claimedAt, nowMs - IDEMPOTENCY_RETENTION_MS)
}

function deleteExpired(db: Database, nowMs: number, limit: number) {
  const expired = sql`SELECT rowid FROM idempotency_keys WHERE claimed_at < ${nowMs - IDEMPOTENCY_RETENTION_MS} LIMIT ${limit}`
  return db.delete(idempotencyKeys).where(sql`rowid IN (${expired})`)
}

function named({ teamId, operation, key }: KeyName) {
  return and(eq(idempotencyKeys.teamId, teamId), eq(idempotencyKeys.operation, operation), eq(idempotencyKeys.key, key))
}
