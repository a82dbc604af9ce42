import { describeExcess } from '../contract/accounts/budgets.ts'
import { Problem } from '../contract/problems.ts'
import type { BillSources } from '../db/billing/bill-reads.ts'
import { countingRows, type Database, openDatabase } from '../db/client.ts'
import { openUsageArchive } from '../effects/billing/usage-archive.ts'
import { enterRows, rowsUse } from '../effects/in-flight.ts'
import { yieldThread } from '../platform/yield-thread.ts'
import type { VerbContext } from './context.ts'

/** Seconds after which some of the counted rows have expired. */
const RETRY_AFTER_SECONDS = '5'
/** A query that reads this many rows takes a few milliseconds, so other requests get a turn before the next one. */
const ROWS_OF_A_TURN = 500

/**
 * Returns a database for operations whose work grows with the account's data (RATE-20): rows that it reads count towards the account's
 * budget `readRows`. Throws 429 when the budget is used up; an operation that has begun runs to its end.
 */
export async function openHeavyReads(ctx: Pick<VerbContext, 'env' | 'principal'>, binding = ctx.env.DB): Promise<Database> {
  const { teamId } = ctx.principal
  await requireReadRows(ctx)
  const count = async (rows: number) => {
    // A heavy operation lasts long: each query counts at the instant of its end.
    enterRows(teamId, rows, Date.now())
    if (rows >= ROWS_OF_A_TURN) await yieldThread()
  }
  return openDatabase(countingRows(binding, count))
}

/** Opens the sources of bills (RATE-20): intervals in the bucket count towards `readRows` like rows. Throws 429 when it is used up. */
export async function openBillSources(ctx: Pick<VerbContext, 'env' | 'principal'>): Promise<BillSources> {
  const { env, principal } = ctx
  const db = await openHeavyReads(ctx)
  return { db, archive: openUsageArchive(env, (rows) => enterRows(principal.teamId, rows, Date.now())) }
}

/**
 * Runs a list query whose rows count `weight` times each, because every row costs further work: opening a specification and asking a host.
 * Throws 429 when `readRows` is used up.
 */
export async function readHeavyList<Found>(
  ctx: Pick<VerbContext, 'env' | 'principal'>,
  weight: number,
  read: () => Promise<Found>,
  countOf: (found: Found) => number,
): Promise<Found> {
  await requireReadRows(ctx)
  const found = await read()
  // Rows count from the end of the read.
  enterRows(ctx.principal.teamId, countOf(found) * weight, Date.now())
  return found
}

async function requireReadRows({ env, principal: { teamId } }: Pick<VerbContext, 'env' | 'principal'>): Promise<void> {
  // Uses the present time and not that of the request, which may have waited long.
  const { used, bound } = await rowsUse(env, teamId, Date.now())
  if (used < bound) return
  throw new Problem('rateLimited', {
    detail: describeExcess('readRows', used, 1, bound),
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  })
}
