import { type SQL, sql } from 'drizzle-orm'
import { USAGE_KINDS } from '../../domain/billing/usage.ts'
import { IS_OF_PAYER, payerOf } from '../accounts/budgets.ts'
import type { Database } from '../client.ts'

/** The month that is running, and now, milliseconds. */
export interface RunningMonth {
  startMs: number
  nowMs: number
}

// Written into the statement: a value that is bound each time would leave it too few of the hundred that D1 takes.
const NANO_HOURS_PER_MICRO = sql.raw('3600000000')
const KINDS = sql.raw(USAGE_KINDS.map((kind) => `'${kind}'`).join(', '))
const OF_TEAM = sql`team_id = spend_limits.team_id`

/**
 * A condition for the statement that takes something (BIL-23): the team's limit of a month, if there is one, has not been reached by what the
 * month has cost until now, nor the ceiling by that of all accounts that share it (SHR-1). It adds up what `readMonthSpend` does, which explains
 * a refusal.
 */
export function withinMonth(teamId: string, month: RunningMonth): SQL {
  // Most teams have none, and nothing is added up for them.
  const isSpent = (limit: SQL, rows: SQL) => sql`CASE WHEN ${limit} IS NULL THEN FALSE ELSE ${monthMicros(month, rows)} >= ${limit} END`
  return sql`NOT EXISTS (SELECT 1 FROM spend_limits WHERE team_id = ${teamId} AND ${isSpent(sql`micros_per_month`, OF_TEAM)})
    AND NOT EXISTS (SELECT 1 FROM teams payer JOIN spend_limits ON spend_limits.team_id = payer.id
      WHERE payer.id = ${payerOf(teamId)} AND ${isSpent(sql`ceiling_micros_per_month`, IS_OF_PAYER)})`
}

/** What the accounts that share a ceiling have been charged together in a month until now, in millionths of a USD (SHR-1). */
export async function readMonthTogether(db: Database, teamId: string, month: RunningMonth): Promise<number> {
  const [row] = await db.values<number[]>(
    sql`SELECT ${monthMicros(month, IS_OF_PAYER)} FROM teams payer WHERE payer.id = ${payerOf(teamId)}`,
  )
  return Number(row?.[0] ?? 0)
}

/** `rows`: a condition on rows that have a team. */
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

/** What an interval that began at `from` has cost since the month began, rounded as bills are (BIL-6). */
function parts(nanosPerHour: readonly SQL[], from: SQL, { start, now }: { start: SQL; now: SQL }): SQL {
  const amount = (nanos: SQL, ms: SQL) => sql`CAST(${nanos} * MAX(0, ${ms}) / ${NANO_HOURS_PER_MICRO} AS INTEGER)`
  return sql.join(
    nanosPerHour.map((nanos) => sql`${amount(nanos, sql`${now} - ${from}`)} - ${amount(nanos, sql`MAX(${from}, ${start}) - ${from}`)}`),
    sql` + `,
  )
}
