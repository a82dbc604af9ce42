import { and, eq, type SQL, sql } from 'drizzle-orm'
import { NO_SPEND_SETTINGS, type SpendSettings } from '../../domain/billing/spend.ts'
import { IS_OF_PAYER, payerOf } from '../accounts/budgets.ts'
import type { Database, Statement } from '../client.ts'
import { allocations } from '../schema.ts'
import { spendLimits } from '../tables/billing/spend.ts'
import { type RunningMonth, withinMonth } from './month-limit.ts'

const NANOS_PER_MICRO = 1_000
// Verbatim as in the partial index.
const IS_LIVE = sql`status <> 'TERMINATED'`
/** Condition on a pod's row: its desired state is running. */
export const IS_POD_TO_RUN = sql`(status IN ('PROVISIONING', 'STARTING', 'RUNNING') OR host_lost = 1)`

/** Hourly cost of a new resource, in billionths of a USD, and the limit of an account that has none of its own. */
export interface SpendDemand {
  nanosPerHour: number
  defaultMicrosPerHour: number
  month: RunningMonth
}

/** A free resource needs no limit. */
export const NO_DEMAND: SpendDemand = { nanosPerHour: 0, defaultMicrosPerHour: 0, month: { startMs: 0, nowMs: 0 } }

const RUNNING_NANOS = sql`CAST(ROUND(price_per_hour * 1000000000) AS INTEGER) + disk_nanos_per_hour`
/** Hourly saving of stopping a pod, in billionths of a USD. */
export const SAVED_NANOS = sql`${RUNNING_NANOS} - stopped_disk_nanos_per_hour`
/** Hourly cost of a pod in its current state, in billionths of a USD. */
export const POD_NANOS = sql`CASE WHEN ${IS_POD_TO_RUN} THEN ${RUNNING_NANOS}
  ELSE stopped_disk_nanos_per_hour END`

/**
 * Rates of spending of teams, for running and reserved resources, in billionths of a USD per hour: by kind, as SQL values. `rows`: a
 * condition on rows with a `team_id`.
 */
const RATES: Record<SpendKind, (rows: SQL) => SQL> = {
  PODS: (rows) => sql`(SELECT COALESCE(SUM(${POD_NANOS}), 0) FROM pods WHERE ${rows} AND ${IS_LIVE})`,
  SERVERLESS: (rows) => sql`(SELECT COALESCE(SUM(gpu_nanos_per_hour + cpu_nanos_per_hour + disk_nanos_per_hour), 0)
    FROM allocations WHERE ${rows} AND kind = 'worker')`,
  NETWORK_VOLUMES: (rows) => sql`(SELECT COALESCE(SUM(nanos_per_hour), 0) FROM network_volumes WHERE ${rows})`,
}

/** Kinds of resources that are charged by the hour. */
export const SPEND_KINDS = ['PODS', 'SERVERLESS', 'NETWORK_VOLUMES'] as const
export type SpendKind = (typeof SPEND_KINDS)[number]

const OF_TEAM = sql`team_id = spend_limits.team_id`

const rateOf = (rows: SQL) =>
  sql.join(
    SPEND_KINDS.map((kind) => RATES[kind](rows)),
    sql` + `,
  )

/**
 * A condition for the statement that takes a resource, so that concurrent requests cannot exceed a limit together (BIL-22, BIL-23): the
 * team's own limit applies to the team's rate, the operator's ceiling to that of all accounts of the payer (SHR-1). `given`: the rate of
 * the resource that this one replaces.
 */
export function withinSpend(teamId: string, { nanosPerHour, defaultMicrosPerHour, month }: SpendDemand, given: SQL = sql`0`): SQL {
  if (nanosPerHour <= 0) return sql`TRUE`
  const isPast = (rows: SQL, limit: SQL) => sql`${rateOf(rows)} - ${given} + ${nanosPerHour} > ${limit} * ${NANOS_PER_MICRO}`
  // Most teams have no limit of their own, and no sum is computed for it.
  const isPastOwn = sql`CASE WHEN micros_per_hour IS NULL THEN FALSE ELSE ${isPast(OF_TEAM, sql`micros_per_hour`)} END`
  const ceiling = sql`COALESCE((SELECT ceiling_micros_per_hour FROM spend_limits WHERE team_id = payer.id), ${defaultMicrosPerHour})`
  return sql`NOT EXISTS (SELECT 1 FROM spend_limits WHERE team_id = ${teamId} AND ${isPastOwn})
    AND NOT EXISTS (SELECT 1 FROM teams payer WHERE payer.id = ${payerOf(teamId)} AND ${isPast(IS_OF_PAYER, ceiling)})
    AND ${withinMonth(teamId, month)}`
}

/** A team's limits, the ceilings of its payer, and the team's present rates in billionths of a USD per hour. */
export interface SpendState {
  settings: SpendSettings
  webhookSealed: string | null
  nanosByKind: Record<SpendKind, number>
  /** Number of accounts that share the ceilings, including this one, and their rate together (SHR-1). */
  together: { accounts: number; nanosPerHour: number }
}

/** Reads an account's spend limits and its present rates, in billionths of a USD per hour, at one moment. */
export async function readSpend(db: Database, teamId: string): Promise<SpendState> {
  const ofTeam = sql`team_id = ${teamId}`
  const columns = Object.fromEntries(SPEND_KINDS.map((kind) => [kind, sql<number>`${RATES[kind](ofTeam)}`.as(kind)])) as Record<
    SpendKind,
    SQL.Aliased<number>
  >
  const [rows, [person]] = await db.batch([
    db.select().from(spendLimits).where(eq(spendLimits.teamId, teamId)),
    db
      .select({
        ...columns,
        ceilingMicrosPerHour: sql<number | null>`s.ceiling_micros_per_hour`.as('ceiling_hour'),
        ceilingMicrosPerMonth: sql<number | null>`s.ceiling_micros_per_month`.as('ceiling_month'),
        accounts: sql<number>`1 + (SELECT COUNT(*) FROM teams o WHERE o.maker_team_id = payer.id AND o.plan IS NULL)`.as('accounts'),
        nanosPerHour: sql<number>`${rateOf(IS_OF_PAYER)}`.as('together_nanos'),
      })
      .from(sql`teams payer LEFT JOIN spend_limits s ON s.team_id = payer.id`)
      .where(sql`payer.id = ${payerOf(teamId)}`),
  ])
  const nanosByKind = Object.fromEntries(SPEND_KINDS.map((kind) => [kind, Number(person?.[kind] ?? 0)])) as Record<SpendKind, number>
  const { ceilingMicrosPerHour = null, ceilingMicrosPerMonth = null, accounts = 1, nanosPerHour = 0 } = person ?? {}
  const settings = { ...(rows[0] ?? NO_SPEND_SETTINGS), ceilingMicrosPerHour, ceilingMicrosPerMonth }
  return { settings, webhookSealed: rows[0]?.webhookSealed ?? null, nanosByKind, together: { accounts, nanosPerHour } }
}

/** Settable fields of a team's limits. */
export type SpendChange = Partial<SpendSettings & { webhookSealed: string | null }>

/**
 * Sets some of a team's limits and leaves the others. Sent warnings may be sent again. False when the fields that the team itself may set
 * differ from `before`.
 */
export async function upsertSpendLimits(
  db: Database,
  teamId: string,
  change: SpendChange,
  nowMs: number,
  note: Statement,
  before?: OwnSpendLimits,
): Promise<boolean> {
  const set = { ...change, warnedRate: false, warnedMonth: null, updatedAt: nowMs }
  const upsert = db
    .insert(spendLimits)
    .values({ teamId, ...set })
    .onConflictDoUpdate({ target: spendLimits.teamId, set, ...(before && { setWhere: isStill(before) }) })
  const [written] = await db.batch([upsert, note])
  return written.meta.changes > 0
}

/** The limits that a team sets itself. */
export type OwnSpendLimits = Pick<SpendSettings, 'microsPerHour' | 'microsPerMonth' | 'stopsPods'> & { webhookSealed: string | null }

function isStill({ microsPerHour, microsPerMonth, stopsPods, webhookSealed }: OwnSpendLimits): SQL {
  return sql`(${spendLimits.microsPerHour} IS ${microsPerHour} AND ${spendLimits.microsPerMonth} IS ${microsPerMonth}
    AND ${spendLimits.stopsPods} = ${stopsPods ? 1 : 0} AND ${spendLimits.webhookSealed} IS ${webhookSealed})`
}

/** Hourly cost of all workers of an endpoint that have an allocation on a host, in billionths of a USD. */
export async function readWorkerNanos(db: Database, teamId: string, endpointId: string): Promise<number> {
  const { gpuNanosPerHour, cpuNanosPerHour, diskNanosPerHour } = allocations
  const [row] = await db
    .select({ nanos: sql<number>`COALESCE(SUM(${gpuNanosPerHour} + ${cpuNanosPerHour} + ${diskNanosPerHour}), 0)` })
    .from(allocations)
    .where(and(eq(allocations.teamId, teamId), eq(allocations.kind, 'worker'), eq(allocations.ownerId, endpointId)))
  return row?.nanos ?? 0
}
