import { and, asc, eq, gt, isNotNull, isNull, ne, sql } from 'drizzle-orm'
import { union } from 'drizzle-orm/sqlite-core'
import type { EndpointConfig } from '../domain/endpoint/record.ts'
import type { Records } from './client.ts'
import { openMungeKey, sealMungeKey } from './clusters/munge-key.ts'
import { openConfig, sealConfig } from './endpoints/endpoint-config.ts'
import type { ReleaseRow } from './endpoints/endpoints.ts'
import { placeOfAnswer } from './idempotency.ts'
import type { RegistryRow } from './resources/registries.ts'
import { openPart, placeOfPart } from './resources/secrets.ts'
import { openTemplate, sealTemplate } from './resources/templates.ts'
import {
  clusters,
  endpoints,
  hosts,
  idempotencyKeys,
  pods,
  registries,
  releases,
  secretParts,
  secrets,
  spendLimits,
  templates,
} from './schema.ts'
import type { SealedContainer } from './sealed-env.ts'
import { openPod, sealPodSpec } from './sealed-pod.ts'

// Reseals rows whose secrets are stored in plain text or under a previous TOKEN_SECRET (SEAL-3). Across teams: for the operator only.

/** Rows per step. */
const STEP_ROWS = 100
/** Parts of secrets per step: each may have a megabyte. */
export const STEP_PARTS = 20
/** Length of the prefix that shows under which secret a text was sealed. */
const ENVELOPE_HEAD = 32

/**
 * Result of a step: the ids that it read, in order, and the number of rows written. Fewer ids than the step size mean that it was the last.
 */
export interface Step {
  ids: string[]
  written: number
  /** Rows that could not be opened or written; they are unchanged. */
  failed: { id: string; error: unknown }[]
}

export const RESEALED_TABLES = ['pods', 'endpoints', 'templates', 'clusters'] as const
export type ResealedTable = (typeof RESEALED_TABLES)[number]

/** Reseals the rows of a table after `afterId`. A row that changes meanwhile is skipped, because its writer seals it. */
export function resealRows(db: Records, table: ResealedTable, afterId: string): Promise<Step> {
  return STEPS[table](db, afterId)
}

/**
 * Ids after `afterId` of resources with an object of their own: live endpoints, hosts that are not removed, teams with an endpoint or a
 * webhook.
 */
export async function listObjects(db: Records, kind: 'endpoints' | 'hosts' | 'teams', afterId: string): Promise<string[]> {
  const rows = await OBJECTS[kind](db, afterId)
  return rows.map(({ id }) => id)
}

/** Whether these are the last rows of a table: the step had room for more. */
export function isLastStep(ids: readonly string[], stepRows = STEP_ROWS): boolean {
  return ids.length < stepRows
}

const OBJECTS = {
  endpoints: (db: Records, afterId: string) =>
    db
      .select({ id: endpoints.id })
      .from(endpoints)
      .where(and(gt(endpoints.id, afterId), isNull(endpoints.deletedAt)))
      .orderBy(asc(endpoints.id))
      .limit(STEP_ROWS),
  hosts: (db: Records, afterId: string) =>
    db
      .select({ id: hosts.id })
      .from(hosts)
      .where(and(gt(hosts.id, afterId), ne(hosts.status, 'REMOVED')))
      .orderBy(asc(hosts.id))
      .limit(STEP_ROWS),
  teams: (db: Records, afterId: string) =>
    union(
      db.select({ id: endpoints.teamId }).from(endpoints).where(gt(endpoints.teamId, afterId)),
      db
        .select({ id: spendLimits.teamId })
        .from(spendLimits)
        .where(and(gt(spendLimits.teamId, afterId), isNotNull(spendLimits.webhookSealed))),
    )
      .orderBy(sql`1`)
      .limit(STEP_ROWS),
}

const STEPS: Readonly<Record<ResealedTable, (db: Records, afterId: string) => Promise<Step>>> = {
  pods: async (db, afterId) => {
    const rows = await db.select().from(pods).where(gt(pods.id, afterId)).orderBy(asc(pods.id)).limit(STEP_ROWS)
    const stale = rows.filter(({ spec }) => isStale(db, spec.container, spec.sealedAccessEnv) || spec.accessEnv !== undefined)
    return write(rows, stale, async (row) => {
      const spec = sealPodSpec(db.vault, row, openPod(db.vault, row).spec)
      await db
        .update(pods)
        .set({ spec })
        .where(and(eq(pods.id, row.id), eq(pods.version, row.version)))
    })
  },
  endpoints: async (db, afterId) => {
    const rows = await db
      .select()
      .from(endpoints)
      // A deleted endpoint has no sealed values.
      .where(and(gt(endpoints.id, afterId), isNull(endpoints.deletedAt)))
      .orderBy(asc(endpoints.id))
      .limit(STEP_ROWS)
    const stale = rows.filter(({ config }) => isStale(db, config.container))
    return write(rows, stale, async ({ id, revision, config }) => {
      const sealed = sealConfig(db.vault, openConfig(db.vault, config) satisfies EndpointConfig)
      await db
        .update(endpoints)
        .set({ config: sealed })
        .where(and(eq(endpoints.id, id), eq(endpoints.revision, revision)))
    })
  },
  clusters: async (db, afterId) => {
    const { id, sealedSecret } = clusters
    const found = await db
      .select({ id, sealed: sealedSecret })
      .from(clusters)
      .where(and(gt(id, afterId), isNotNull(sealedSecret)))
      .orderBy(asc(id))
      .limit(STEP_ROWS)
    const rows = found.flatMap((row) => (row.sealed === null ? [] : [{ id: row.id, sealed: row.sealed }]))
    const stale = rows.filter(({ sealed }) => !db.vault.isCurrent(sealed))
    return write(rows, stale, async (row) => {
      const sealed = sealMungeKey(db.vault, row.id, openMungeKey(db.vault, row.id, row.sealed))
      await db
        .update(clusters)
        .set({ sealedSecret: sealed })
        .where(and(eq(id, row.id), eq(sealedSecret, row.sealed)))
    })
  },
  templates: async (db, afterId) => {
    const rows = await db.select().from(templates).where(gt(templates.id, afterId)).orderBy(asc(templates.id)).limit(STEP_ROWS)
    const stale = rows.filter(({ config }) => isStale(db, config.container))
    return write(rows, stale, async ({ id, revision, config }) => {
      const sealed = sealTemplate(db.vault, openTemplate(db.vault, config))
      await db
        .update(templates)
        .set({ config: sealed })
        .where(and(eq(templates.id, id), eq(templates.revision, revision)))
    })
  },
}

function isStale({ vault }: Records, { env, sealedEnv }: SealedContainer, ...others: readonly (string | undefined)[]): boolean {
  const isOpen = Object.keys(env ?? {}).length > 0
  return isOpen || [sealedEnv, ...others].some((text) => text !== undefined && !vault.isCurrent(text))
}

async function write<Row extends { id: string }>(
  rows: readonly Row[],
  stale: readonly Row[],
  writeRow: (row: Row) => Promise<void>,
): Promise<Step> {
  const failed: Step['failed'] = []
  for (const row of stale) {
    try {
      await writeRow(row)
    } catch (error) {
      failed.push({ id: row.id, error })
    }
  }
  return { ids: rows.map(({ id }) => id), written: stale.length - failed.length, failed }
}

/**
 * Reseals registry logins, which the caller opens and seals; null from `seal` means that it cannot. Throws for a row that cannot be opened.
 */
export async function resealRegistries(
  db: Records,
  afterId: string,
  seal: (row: RegistryRow) => Pick<RegistryRow, 'usernameSealed' | 'passwordSealed'> | null,
): Promise<Step> {
  const rows = await db.select().from(registries).where(gt(registries.id, afterId)).orderBy(asc(registries.id)).limit(STEP_ROWS)
  const stale = rows.filter(
    ({ usernameSealed, passwordSealed }) => ![usernameSealed, passwordSealed].every((text) => db.vault.isCurrent(text)),
  )
  return write(rows, stale, async (row) => {
    const sealed = seal(row)
    if (!sealed) throw new Error(`registries ${row.id} was sealed under a TOKEN_SECRET that this plane does not have`)
    await db.update(registries).set(sealed).where(eq(registries.id, row.id))
  })
}

/** Reseals webhook addresses of spend warnings, which the caller opens and seals. */
export async function resealSpendWebhooks(db: Records, afterId: string, seal: (teamId: string, sealed: string) => string): Promise<Step> {
  const { teamId, webhookSealed } = spendLimits
  const found = await db
    .select({ id: teamId, sealed: webhookSealed })
    .from(spendLimits)
    .where(and(gt(teamId, afterId), isNotNull(webhookSealed)))
    .orderBy(asc(teamId))
    .limit(STEP_ROWS)
  const rows = found.flatMap(({ id, sealed }) => (sealed === null ? [] : [{ id, sealed }]))
  const stale = rows.filter(({ sealed }) => !db.vault.isCurrent(sealed))
  return write(rows, stale, async ({ id, sealed }) => {
    await db
      .update(spendLimits)
      .set({ webhookSealed: seal(id, sealed) })
      .where(and(eq(teamId, id), eq(webhookSealed, sealed)))
  })
}

/** Reseals parts of secrets. The text of a part never changes, so a concurrent reader can open it before and after. */
export async function resealSecretParts(db: Records, afterId: string): Promise<Step> {
  const [afterSecret = '', afterVersion = '0', afterPart = '0'] = afterId.split(':')
  const { secretId, version, part, sealed } = secretParts
  const found = await db
    .select({ secretId, version, part, teamId: secrets.teamId, head: sql<string>`substr(${sealed}, 1, ${ENVELOPE_HEAD})` })
    .from(secretParts)
    .innerJoin(secrets, eq(secrets.id, secretId))
    .where(sql`(${secretId}, ${version}, ${part}) > (${afterSecret}, ${Number(afterVersion)}, ${Number(afterPart)})`)
    .orderBy(asc(secretId), asc(version), asc(part))
    .limit(STEP_PARTS)
  const rows = found.map((row) => ({ ...row, id: `${row.secretId}:${row.version}:${row.part}` }))
  const stale = rows.filter(({ head }) => !db.vault.isCurrent(head))
  return write(rows, stale, async (row) => {
    const here = and(eq(secretId, row.secretId), eq(version, row.version), eq(part, row.part))
    const kept = await db.select({ sealed }).from(secretParts).where(here).get()
    // The secret was rotated or deleted meanwhile.
    if (!kept) return
    const secret = { id: row.secretId, teamId: row.teamId, version: row.version }
    const text = openPart(db, secret, { ...row, ...kept })
    const fresh = db.vault.seal(placeOfPart(secret, row.part), text)
    await db.update(secretParts).set({ sealed: fresh }).where(here)
  })
}

/**
 * Reseals stored first answers for repeats; those of a release without sealing are plain text. Identified by row number, because keys are
 * texts of clients. Throws for a row that cannot be opened.
 */
export async function resealStoredAnswers(db: Records, afterId: string): Promise<Step> {
  const { teamId, operation, key, response } = idempotencyKeys
  const number = sql<number>`${idempotencyKeys}.rowid`
  const rows = await db
    .select({ number, teamId, operation, key, head: sql<string>`substr(${response}, 1, ${ENVELOPE_HEAD})` })
    .from(idempotencyKeys)
    .where(and(gt(number, Number(afterId)), isNotNull(response)))
    .orderBy(asc(number))
    .limit(STEP_PARTS)
  const named = rows.map((row) => ({ ...row, id: String(row.number) }))
  const stale = named.filter(({ head }) => !db.vault.isCurrent(head))
  return write(named, stale, async (row) => {
    const here = eq(number, row.number)
    const kept = await db.select({ response }).from(idempotencyKeys).where(here).get()
    // The key expired meanwhile.
    if (!kept?.response) return
    const text = kept.response.startsWith('{') ? kept.response : db.vault.open(placeOfAnswer(row), kept.response)
    if (text === null) throw new Error(`idempotency_keys ${row.id} was sealed under a TOKEN_SECRET that this plane does not have`)
    await db
      .update(idempotencyKeys)
      .set({ response: db.vault.seal(placeOfAnswer(row), text) })
      .where(and(here, eq(response, kept.response)))
  })
}

/** Hides values of variables in diffs of releases that still contain them (END-34). */
export async function resealReleases(
  db: Records,
  afterId: string,
  hide: (endpointId: string, diff: ReleaseRow['diff']) => ReleaseRow['diff'],
): Promise<Step> {
  const rows = await db.select().from(releases).where(gt(releases.id, afterId)).orderBy(asc(releases.id)).limit(STEP_ROWS)
  const hidden = rows.map((row) => ({ ...row, hiddenDiff: hide(row.endpointId, row.diff) }))
  const stale = hidden.filter(({ diff, hiddenDiff }) => JSON.stringify(diff) !== JSON.stringify(hiddenDiff))
  return write(hidden, stale, async ({ id, endpointId, hiddenDiff }) => {
    await db
      .update(releases)
      .set({ diff: hiddenDiff })
      .where(and(eq(releases.id, id), eq(releases.endpointId, endpointId)))
  })
}
