import { type SQL, sql } from 'drizzle-orm'
import { USAGE_KINDS } from '../../domain/billing/usage.ts'
import { IS_OF_PAYER, payerOf } from '../accounts/budgets.ts'
import type { Database } from '../client.ts'

/** The start of the current month, and the present; milliseconds since the epoch. */
export interface RunningMonth {
  startMs: number
  nowMs: number
}

// Literals in the statement: bound values would use up too many of the hundred that D1 allows.
const NANO_HOURS_PER_MICRO = sql.raw('3600000000')
const KINDS = sql.raw(USAGE_KINDS.map((kind) => `'${kind}'`).join(', '))
const OF_TEAM = sql`team_id = spend_limits.team_id`

/**
 * A condition for the statement that takes something chargeable (BIL-23): the month's charges so far are below the team's monthly limit, if
 * there is one, and those of all accounts that share the ceiling are below it (SHR-1). It computes the same sum as `readMonthSpend`, which
 * explains a refusal.
 */
export function withinMonth(teamId: string, month: RunningMonth): SQL {
  // Most teams have no limit, and no sum is computed for them.
  const isSpent = (limit: SQL, rows: SQL) => sql`CASE WHEN ${limit} IS NULL THEN FALSE ELSE ${monthMicros(month, rows)} >= ${limit} END`
  return sql`NOT EXISTS (SELECT 1 FROM spend_limits WHERE team_id = ${teamId} AND ${isSpent(sql`micros_per_month`, OF_TEAM)})
    AND NOT EXISTS (SELECT 1 FROM teams payer JOIN spend_limits ON spend_limits.team_id = payer.id
      WHERE payer.id = ${payerOf(teamId)} AND ${isSpent(sql`ceiling_micros_per_month`, IS_OF_PAYER)})`
}

/** Charges so far this month of all accounts that share a ceiling, in millionths of a USD (SHR-1). */
export async function readMonthTogether(db: Database, teamId: string, month: RunningMonth): Promise<number> {
  const [row] = await db.values<number[]>(
    sql`SELECT ${monthMicros(month, IS_OF_PAYER)} FROM teams payer WHERE payer.id = ${payerOf(teamId)}`,
  )
  return Number(row?.[0] ?? 0)
}

/** `rows`: a condition on rows with a `team_id`. */
function monthMicros({ startMs, nowMs }: RunningMonth, rows: SQL): SQL {
  const month = { start: sql.raw(String(startMs)), now: sql.raw(String(nowMs)) }
  const rates = [sql`gpu_nanos_per_hour`, sql`cpu_nanos_per_hour`, sql`disk_nanos_per_hour`]
  const compute = sql`CAST(ROUND(price_per_hour * 1000000000) AS INTEGER)`
  const sums = [
    sql`SELECT SUM(gpu_micros + cpu_micros + disk_micros + fast_micros)
      FROM usage_totals WHERE ${rows} AND kind IN (${KINDS}) AND day_ms >= ${month.start}`,
    sql`SELECT SUM(${parts([compute, sql`disk_nanos_per_hour`], sql`charged_from`, month)})
      FROM pods WHERE ${rows} AND status <> 'TERMINATED' AND charged_from > 0`,
    sql`SELECT SUM(${parts([sql`stopped_disk_nanos_per_hour`], sql`disk_charged_from`, month)})
      FROM pods WHERE ${rows} AND status <> 'TERMINATED' AND charged_from IS NULL AND disk_charged_from > 0`,
    sql`SELECT SUM(${parts(rates, sql`charged_from`, month)})
      FROM allocations WHERE ${rows} AND kind = 'worker' AND charged_from > 0`,
    sql`SELECT SUM(${parts([sql`nanos_per_hour`], sql`charged_from`, month)})
      FROM network_volumes WHERE ${rows} AND charged_from > 0`,
  ]
  return sql.join(
    sums.map((sum) => sql`COALESCE((${sum}), 0)`),
    sql` + `,
  )
}

/** Cost since the start of the month of an open interval that began at `from`, rounded like bills (BIL-6). */
function parts(nanosPerHour: readonly SQL[], from: SQL, { start, now }: { start: SQL; now: SQL }): SQL {
  const amount = (nanos: SQL, ms: SQL) => sql`CAST(${nanos} * MAX(0, ${ms}) / ${NANO_HOURS_PER_MICRO} AS INTEGER)`
  return sql.join(
    nanosPerHour.map((nanos) => sql`${amount(nanos, sql`${now} - ${from}`)} - ${amount(nanos, sql`MAX(${from}, ${start}) - ${from}`)}`),
    sql` + `,
  )
}
