import { describeExcess } from '../contract/accounts/budgets.ts'
import { Problem } from '../contract/problems.ts'
import { countingRows, type Database, openDatabase } from '../db/client.ts'
import { enterRows, rowsUse } from '../effects/in-flight.ts'
import { yieldThread } from '../platform/yield-thread.ts'
import type { VerbContext } from './context.ts'

/** After so long some of what an account has read counts no more. */
const RETRY_AFTER_SECONDS = '5'
/** A call that has read as many rows took a few milliseconds: others have their turn before the next. */
const ROWS_OF_A_TURN = 500

/**
 * The database for a verb whose work grows with what the account has (RATE-20): what it reads counts towards the account's budget `readRows`.
 * Throws 429 where that is used up; what has begun goes on to its end.
 */
export async function openHeavyReads(ctx: Pick<VerbContext, 'env' | 'principal'>): Promise<Database> {
  const { teamId } = ctx.principal
  await requireReadRows(ctx)
  const count = async (rows: number) => {
    enterRows(teamId, rows, Date.now())
    if (rows >= ROWS_OF_A_TURN) await yieldThread()
  }
  return openDatabase(countingRows(ctx.env.DB, count))
}

/** The same for a list, each of whose rows counts `weight` times: a specification is opened, and a host asked. */
export async function readHeavyList<Found>(
  ctx: Pick<VerbContext, 'env' | 'principal'>,
  weight: number,
  read: () => Promise<Found>,
  countOf: (found: Found) => number,
): Promise<Found> {
  await requireReadRows(ctx)
  const found = await read()
  enterRows(ctx.principal.teamId, countOf(found) * weight, Date.now())
  return found
}

async function requireReadRows({ env, principal: { teamId } }: Pick<VerbContext, 'env' | 'principal'>): Promise<void> {
  // Not the time of the request: this one may have waited long.
  const { used, bound } = await rowsUse(env, teamId, Date.now())
  if (used < bound) return
  throw new Problem('rateLimited', {
    detail: describeExcess('readRows', used, 1, bound),
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  })
}
