import { eq, type SQL, sql } from 'drizzle-orm'
import { BUDGETS, type BudgetName, type BudgetOverrides } from '../../contract/accounts/budgets.ts'
import { DEFAULT_PLAN } from '../../contract/accounts/plans.ts'
import { MAX_ANSWER_BYTES } from '../../domain/idempotency.ts'
import type { Database, Statement } from '../client.ts'
import { budgets } from '../tables/accounts/budgets.ts'

/** Budgets whose use D1 knows; the use by requests in progress is known to the isolate alone. */
export type StoredBudget = Exclude<BudgetName, 'inFlightBytes' | 'readBytes' | 'readRows'>

/** A team by its id, or by an SQL value. */
type Team = string | SQL

const USES: Record<StoredBudget, (teamId: Team) => SQL> = {
  organizations: (teamId) => sql`(SELECT COUNT(*) FROM memberships own JOIN teams mine ON mine.id = own.team_id AND mine.kind = 'PERSONAL'
    JOIN memberships m ON m.user_id = own.user_id AND m.role = 'OWNER'
    JOIN teams o ON o.id = m.team_id AND o.kind = 'ORGANIZATION' AND o.deleted_at IS NULL WHERE own.team_id = ${teamId})`,
  pods: (teamId) => sql`(SELECT COUNT(*) FROM pods WHERE ${isShared(teamId)} AND status <> 'TERMINATED')`,
  clusters: (teamId) => sql`(SELECT COUNT(*) FROM clusters WHERE ${isShared(teamId)} AND deleted_at IS NULL)`,
  stoppedPods: (teamId) =>
    sql`(SELECT COUNT(*) FROM pods WHERE ${isShared(teamId)} AND status <> 'TERMINATED' AND status IN ('EXITED', 'ERROR'))`,
  formerPods: (teamId) => sql`(SELECT COUNT(*) FROM pods WHERE team_id = ${teamId} AND status = 'TERMINATED')`,
  endpoints: (teamId) => sql`(SELECT COUNT(*) FROM endpoints WHERE ${isShared(teamId)} AND deleted_at IS NULL)`,
  releasesPerEndpoint: (teamId) => sql`(SELECT COALESCE(MAX(n), 0) FROM (SELECT COUNT(*) AS n FROM releases r
    JOIN endpoints e ON e.id = r.endpoint_id WHERE e.team_id = ${teamId} AND e.deleted_at IS NULL GROUP BY e.id))`,
  apiKeys: (teamId) => sql`(SELECT COUNT(*) FROM api_keys WHERE team_id = ${teamId} AND revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > CAST(unixepoch('subsec') * 1000 AS INTEGER)))`,
  gpus: (teamId) => sql`(SELECT COALESCE(SUM(gpu_count), 0) FROM allocations WHERE ${isShared(teamId)})`,
  specBytesPerHost: (teamId) => sql`(SELECT COALESCE(MAX(bytes), 0) FROM (SELECT SUM(octet_length(spec)) AS bytes FROM pods
    WHERE team_id = ${teamId} AND status <> 'TERMINATED' GROUP BY host_id))`,
  storedBytes: (teamId) => sql`((SELECT COALESCE(SUM(octet_length(config)), 0) FROM endpoints WHERE ${isShared(teamId)})
    + (SELECT COALESCE(SUM(octet_length(r.diff)), 0) FROM releases r JOIN endpoints e ON e.id = r.endpoint_id WHERE ${isShared(teamId, sql`e.team_id`)})
    + (SELECT COALESCE(SUM(octet_length(config)), 0) FROM templates WHERE ${isShared(teamId)}))`,
  keptAnswers: (teamId) => sql`(SELECT COUNT(*) FROM idempotency_keys WHERE team_id = ${teamId})`,
  // A request in progress may still produce the largest answer.
  keptAnswerBytes: (teamId) => sql`(SELECT COALESCE(SUM(COALESCE(octet_length(response), ${MAX_ANSWER_BYTES})), 0)
    FROM idempotency_keys WHERE team_id = ${teamId})`,
  secrets: (teamId) => sql`(SELECT COUNT(*) FROM secrets WHERE ${isShared(teamId)})`,
  secretBytes: (teamId) => sql`(SELECT COALESCE(SUM(bytes), 0) FROM secrets WHERE ${isShared(teamId)})`,
  queuedBytes: (teamId) => sql`(SELECT COALESCE(SUM(granted_bytes), 0) FROM endpoints WHERE ${isShared(teamId)} AND deleted_at IS NULL)`,
  logBytes: (teamId) => sql`(SELECT COALESCE(SUM(bytes), 0) FROM log_archives WHERE ${isShared(teamId)})`,
}

/** A condition for the statement that takes `more` of a budget, so that concurrent requests cannot exceed its bound together (BUDGET-1). */
export function withinBudget(teamId: Team, name: StoredBudget, more: number | SQL, used = USES[name](teamId)): SQL {
  return sql`${used} + ${more} <= ${boundOf(teamId, name)}`
}

/** Total size of the specs of a team's pods on one host, in bytes. */
export function specBytesOn(teamId: string, hostId: string | SQL): SQL {
  return sql`(SELECT COALESCE(SUM(octet_length(spec)), 0) FROM pods WHERE team_id = ${teamId} AND status <> 'TERMINATED' AND host_id = ${hostId})`
}

/** The bound of a team, as an SQL value: its override, else its plan's, else that of the plan `default`, else the plane's (PLAN-2). */
export function boundOf(teamId: Team, name: BudgetName): SQL {
  const path = sql.raw(`'$.${name}'`)
  const inPlan = sql.raw(`'$.budgets.${name}'`)
  return sql`COALESCE((SELECT COALESCE(json_extract(b.bounds, ${path}), json_extract(p.limits, ${inPlan}))
    FROM teams t LEFT JOIN budgets b ON b.team_id = t.id LEFT JOIN plans p ON p.name = t.plan WHERE t.id = ${payerOf(teamId)}),
    (SELECT json_extract(limits, ${inPlan}) FROM plans WHERE name = ${sql.raw(`'${DEFAULT_PLAN}'`)}), ${sql.raw(String(BUDGETS[name].bound))})`
}

/**
 * The account whose bounds apply to a team, as an SQL value: the team itself, or its maker's account while it is an organization without a
 * plan (PLAN-5).
 */
export function payerOf(teamId: Team): SQL {
  return sql`(SELECT CASE WHEN plan IS NULL THEN COALESCE(maker_team_id, id) ELSE id END FROM teams WHERE id = ${teamId})`
}

/** The account whose bounds apply to a team (PLAN-5); the id itself where there is no such team. */
export async function findPayer(db: Database, teamId: string): Promise<string> {
  const [row] = await db.values<[string | null]>(sql`SELECT ${payerOf(teamId)}`)
  return row?.[0] ?? teamId
}

/** A condition on rows of accounts: they belong to the team, or to one that shares its budgets (PLAN-5). */
export function isShared(teamId: Team, column: SQL = sql`team_id`): SQL {
  return sql`${column} IN (SELECT id FROM teams WHERE id = ${payerOf(teamId)}
    UNION ALL SELECT id FROM teams WHERE maker_team_id = ${payerOf(teamId)} AND plan IS NULL)`
}

/**
 * The same condition for a query that has the payer as `payer`: `teams payer WHERE payer.id = payerOf(…)`. It binds no values, of which D1
 * allows a hundred.
 */
export const IS_OF_PAYER = sql`team_id IN (SELECT payer.id UNION ALL SELECT o.id FROM teams o WHERE o.maker_team_id = payer.id AND o.plan IS NULL)`

/** Use and bound of some budgets of a team. */
export async function readBudgets<Name extends StoredBudget>(
  db: Database,
  teamId: string,
  names: readonly Name[],
): Promise<Record<Name, { used: number; bound: number }>> {
  const columns = names.flatMap((name) => [sql`${USES[name](teamId)}`, boundOf(teamId, name)])
  const [row = []] = await db.values<number[]>(sql`SELECT ${sql.join(columns, sql`, `)}`)
  const entries = names.map((name, i) => [name, { used: Number(row[2 * i]), bound: Number(row[2 * i + 1]) }])
  return Object.fromEntries(entries) as Record<Name, { used: number; bound: number }>
}

/** The bound of a team, and the account whose bounds apply to it; null where there is no such team. */
export async function readBound(db: Database, teamId: string, name: BudgetName): Promise<{ bound: number; payer: string | null }> {
  const [row] = await db.values<[number, string | null]>(sql`SELECT ${boundOf(teamId, name)}, ${payerOf(teamId)}`)
  return { bound: Number(row?.[0]), payer: row?.[1] ?? null }
}

/** Overrides that the operator set for a team; empty when there are none. */
export async function findOverrides(db: Database, teamId: string): Promise<BudgetOverrides> {
  const row = await db.select({ bounds: budgets.bounds }).from(budgets).where(eq(budgets.teamId, teamId)).get()
  return row?.bounds ?? {}
}

/** Sets all overrides of a team; the default applies to a bound that is left out. */
export async function upsertOverrides(
  db: Database,
  teamId: string,
  bounds: BudgetOverrides,
  nowMs: number,
  note: Statement,
): Promise<void> {
  const set = { bounds, updatedAt: nowMs }
  const upsert = db
    .insert(budgets)
    .values({ teamId, ...set })
    .onConflictDoUpdate({ target: budgets.teamId, set })
  await db.batch([upsert, note])
}
