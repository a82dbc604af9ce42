import { and, eq, lte, sql } from 'drizzle-orm'
import type { PaidPod, Warned } from '../../domain/billing/spend-watch.ts'
import { isShared } from '../accounts/budgets.ts'
import type { Database } from '../client.ts'
import { isOneOf } from '../one-of.ts'
import { pods } from '../schema.ts'
import { spendLimits } from '../tables/billing/spend.ts'
import { IS_POD_TO_RUN, SAVED_NANOS } from './spend.ts'

/** An account whose limits require stops or warnings. */
export interface WatchedTeam extends Warned {
  teamId: string
  stopsPods: boolean
  webhookSealed: string | null
  /** When its limits were set; a warning applies to these limits only. */
  updatedAt: number
}

// Verbatim as in the partial index.
const IS_WATCHED = sql`(${spendLimits.stopsPods} = 1 OR ${spendLimits.webhookSealed} IS NOT NULL)`

/** Claims the accounts that were checked longest ago, if not since `notSinceMs`. Concurrent callers get different accounts. */
export async function claimSpendChecks(
  db: Database,
  { nowMs, notSinceMs, limit }: { nowMs: number; notSinceMs: number; limit: number },
): Promise<WatchedTeam[]> {
  const isDue = and(IS_WATCHED, lte(spendLimits.checkedAt, notSinceMs))
  const due = await db.select({ teamId: spendLimits.teamId }).from(spendLimits).where(isDue).orderBy(spendLimits.checkedAt).limit(limit)
  if (due.length === 0) return []
  const ids = due.map(({ teamId }) => teamId)
  const { teamId, stopsPods, webhookSealed, updatedAt, warnedMonth, warnedRate } = spendLimits
  return db
    .update(spendLimits)
    .set({ checkedAt: nowMs })
    .where(and(isOneOf(teamId, ids), isDue))
    .returning({ teamId, stopsPods, webhookSealed, updatedAt, warnedMonth, warnedRate })
}

/** Stores the warnings that were sent, unless the limits have been changed meanwhile. */
export async function saveWarned(db: Database, { teamId, updatedAt }: WatchedTeam, warned: Warned): Promise<void> {
  await db
    .update(spendLimits)
    .set({ warnedMonth: warned.warnedMonth, warnedRate: warned.warnedRate })
    .where(and(eq(spendLimits.teamId, teamId), eq(spendLimits.updatedAt, updatedAt)))
}

/**
 * Pods whose desired state is running, of all accounts that share a team's ceiling and have chosen to stop pods (SHR-2), with the saving of
 * each stop.
 */
export function listPaidPods(db: Database, teamId: string): Promise<PaidPod[]> {
  const { id, hostId, createdAtMs, locked } = pods
  const wantsStops = sql`EXISTS (SELECT 1 FROM spend_limits WHERE team_id = ${pods.teamId} AND stops_pods = 1)`
  return db
    .select({ id, teamId: pods.teamId, hostId, createdAtMs, locked, savesNanosPerHour: sql<number>`${SAVED_NANOS}` })
    .from(pods)
    .where(and(isShared(teamId), sql`${pods.status} <> 'TERMINATED' AND ${IS_POD_TO_RUN}`, wantsStops))
}
