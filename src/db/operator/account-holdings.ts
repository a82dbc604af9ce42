import { and, count, eq, isNull, ne, type SQL, sql } from 'drizzle-orm'
import type { PlannedHoldings } from '../../domain/plan/account.ts'
import { MAX_NAMED, type Named } from '../../domain/plan/effect.ts'
import { ACCOUNT_SUSPENDED } from '../../domain/pod/pod.ts'
import type { ApiKeyRow } from '../accounts/api-keys.ts'
import { isGood } from '../accounts/own-keys.ts'
import { IS_POD_TO_RUN } from '../billing/spend.ts'
import type { Database } from '../client.ts'
import { named } from '../resources/resource-users.ts'
import { apiKeys, clusters, endpoints, globalVolumes, networkVolumes, pods, registries, secrets, templates } from '../schema.ts'

const TOTAL = sql<number>`COUNT(*) OVER ()`

/** Reads all holdings in one batch. */
export async function readHoldings(db: Database, teamId: string, nowMs: number): Promise<PlannedHoldings> {
  const podsThat = (condition: SQL) =>
    db
      .select({ id: pods.id, name: pods.name, total: TOTAL })
      .from(pods)
      .where(and(eq(pods.teamId, teamId), ne(pods.status, 'TERMINATED'), condition))
      .limit(MAX_NAMED)
  const nameOf = (table: typeof networkVolumes | typeof globalVolumes) =>
    db.select({ id: table.id, name: table.name, total: TOTAL }).from(table).where(eq(table.teamId, teamId)).limit(MAX_NAMED)
  const numberOf = (table: typeof secrets | typeof templates | typeof registries) =>
    db.select({ total: count() }).from(table).where(eq(table.teamId, teamId))
  const [running, suspended, all, groups, served, network, global, kept, made, logins, keys] = await db.batch([
    podsThat(IS_POD_TO_RUN),
    podsThat(sql`${pods.status} = 'EXITED' AND ${pods.statusReason} = ${ACCOUNT_SUSPENDED}`),
    podsThat(sql`TRUE`),
    db
      .select({ id: clusters.id, name: clusters.name, total: TOTAL })
      .from(clusters)
      .where(and(eq(clusters.teamId, teamId), isNull(clusters.deletedAtMs)))
      .limit(MAX_NAMED),
    db
      .select({ id: endpoints.id, name: endpoints.name, total: TOTAL })
      .from(endpoints)
      .where(and(eq(endpoints.teamId, teamId), isNull(endpoints.deletedAt)))
      .limit(MAX_NAMED),
    nameOf(networkVolumes),
    nameOf(globalVolumes),
    numberOf(secrets),
    numberOf(templates),
    numberOf(registries),
    db
      .select({ total: count() })
      .from(apiKeys)
      .where(and(eq(apiKeys.teamId, teamId), isGood(nowMs))),
  ])
  const volumes = [named(network), named(global)]
  return {
    running: named(running),
    suspended: named(suspended),
    pods: named(all),
    clusters: named(groups),
    endpoints: named(served),
    volumes: { first: volumes.flatMap(({ first }) => first), total: volumes.reduce((sum, { total }) => sum + total, 0) },
    secrets: kept[0]?.total ?? 0,
    templates: made[0]?.total ?? 0,
    registries: logins[0]?.total ?? 0,
    keys: keys[0]?.total ?? 0,
  }
}

/** Valid keys of a team, of one maker or of all: the first ones, and the total number. */
export async function listGoodKeys(db: Database, teamId: string, userId: string | null, nowMs: number): Promise<Named<ApiKeyRow>> {
  const rows = await db
    .select({ row: apiKeys, total: TOTAL })
    .from(apiKeys)
    .where(and(eq(apiKeys.teamId, teamId), userId === null ? undefined : eq(apiKeys.userId, userId), isGood(nowMs)))
    .limit(MAX_NAMED)
  return { first: rows.map(({ row }) => row), total: rows[0]?.total ?? 0 }
}
