import { and, desc, eq, gt, lt, type SQL, sql } from 'drizzle-orm'
import { boundOf, withinBudget } from '../accounts/budgets.ts'
import type { Database, Records, Statement } from '../client.ts'
import { isOneOf } from '../one-of.ts'
import { secretParts, secrets } from '../schema.ts'
import { selectOf } from '../select-of.ts'

export type SecretRow = typeof secrets.$inferSelect
type PartRow = typeof secretParts.$inferSelect

/** Version of a secret whose parts are still being written: it is invisible, and its name is not taken yet (SECRET-1). */
const UNPUBLISHED = 0
/** A secret that is unpublished for this long is left over: no request writes that long. */
const LEFTOVER_AFTER_MS = 10 * 60_000
/** Statements per batch; each writes at most one part, of about a megabyte. */
const BATCH_STATEMENTS = 6
/** Storage that the parts of a team may take per byte of its budget: sealed values and their replacements. */
const STORED_FACTOR = 3
/** Additional storage for the overhead of each envelope, which even a short value has. */
const STORED_SLACK_BYTES = 2 ** 20
const VERSIONS_PER_MS = 1_000

/** The version of a new value: unique within its secret, and rising with time. */
export function newVersion(nowMs: number): number {
  return nowMs * VERSIONS_PER_MS + Math.floor(Math.random() * VERSIONS_PER_MS)
}

/** A team's secret, or undefined when it is unknown, deleted or another team's. */
export function findSecret(db: Database, teamId: string, id: string): Promise<SecretRow | undefined> {
  return db
    .select()
    .from(secrets)
    .where(and(eq(secrets.id, id), published(teamId)))
    .get()
}

/** A team's secrets, newest first; with `name` only that one. */
export function listSecrets(db: Database, teamId: string, name?: string): Promise<SecretRow[]> {
  const isNamed = name === undefined ? undefined : eq(secrets.name, name)
  return db
    .select()
    .from(secrets)
    .where(and(published(teamId), isNamed))
    .orderBy(desc(secrets.createdAt), desc(secrets.id))
    .all()
}

/**
 * Stores a secret in as many batches as its parts need; the last one publishes it, so that no reader sees a part of it (SECRET-1).
 * `together`:
 * statements that depend on whether it was published. 'full' when a budget is exceeded (BUDGET-1).
 */
export async function insertSecret(
  db: Database,
  row: SecretRow,
  parts: readonly string[],
  together: readonly Statement[],
): Promise<'written' | 'nameTaken' | 'full'> {
  const { id, teamId, bytes, createdAt } = row
  // No secret's name begins with a colon, so a claim does not collide with one.
  const claimed = { ...row, name: `:${id}`, version: UNPUBLISHED }
  const fits = sql`${withinBudget(teamId, 'secrets', 1)} AND ${withinBudget(teamId, 'secretBytes', bytes)}`
  const claim = db.insert(secrets).select(selectOf(secrets, claimed, sql`WHERE ${fits}`))
  const isFree = sql`NOT EXISTS (SELECT 1 FROM secrets WHERE team_id = ${teamId} AND name = ${row.name})`
  const publish = db
    .update(secrets)
    .set({ name: row.name, version: row.version })
    .where(and(eq(secrets.id, id), eq(secrets.teamId, teamId), eq(secrets.version, UNPUBLISHED), hasParts(row, parts.length), isFree))
    .returning({ id: secrets.id })
  const writes = [...leftovers(db, teamId, createdAt), claim, ...parts.map((sealed, part) => insertPart(db, row, part, sealed))]
  if (await runInBatches(db, writes, [publish, ...together])) return 'written'
  await db.delete(secrets).where(and(eq(secrets.id, id), eq(secrets.version, UNPUBLISHED)))
  return (await listSecrets(db, teamId, row.name)).length > 0 ? 'nameTaken' : 'full'
}

/**
 * Writes a secret as `after`, unless it has changed since `before` was read: 'changed'. The parts of a new value are written first; the
 * batch that points to them deletes the previous ones (SECRET-1).
 */
export async function updateSecret(
  db: Database,
  before: SecretRow,
  after: SecretRow,
  parts: readonly string[],
  nowMs: number,
  together: readonly Statement[],
): Promise<'written' | 'changed' | 'full'> {
  const { id, teamId, description, version, bytes, valueUpdatedAt } = after
  const isSame = version === before.version
  const fits = bytes <= before.bytes ? undefined : withinBudget(teamId, 'secretBytes', bytes - before.bytes)
  const point = db
    .update(secrets)
    .set({ description, version, bytes, valueUpdatedAt })
    .where(and(eq(secrets.id, id), eq(secrets.teamId, teamId), isStill(before), hasParts(after, isSame ? 0 : parts.length), fits))
    .returning({ id: secrets.id })
  const isPrevious = sql`version = ${before.version} AND version <> (SELECT version FROM secrets WHERE id = ${id})`
  const removePrevious = db.delete(secretParts).where(and(eq(secretParts.secretId, id), isPrevious))
  const writes = [...leftovers(db, teamId, nowMs), ...parts.map((sealed, part) => insertPart(db, after, part, sealed))]
  if (await runInBatches(db, writes, [point, ...together, removePrevious])) return 'written'
  if (!isSame) await db.delete(secretParts).where(and(eq(secretParts.secretId, id), eq(secretParts.version, version)))
  const now = await findSecret(db, teamId, id)
  return now?.version === before.version && now.description === before.description ? 'full' : 'changed'
}

/** Deletes a secret with its parts; false when it differs from `before`. */
export async function deleteSecret(db: Database, before: SecretRow, together: readonly Statement[]): Promise<boolean> {
  const remove = db
    .delete(secrets)
    .where(and(eq(secrets.id, before.id), published(before.teamId), isStill(before)))
    .returning({ id: secrets.id })
  const [removed] = await db.batch([remove, ...together])
  return removed.length > 0
}

/** A team's secrets with these names, which state the size and version of each value. */
export function measureSecrets(db: Database, teamId: string, names: readonly string[]): Promise<SecretRow[]> {
  return db
    .select()
    .from(secrets)
    .where(and(published(teamId), isOneOf(secrets.name, names)))
    .all()
}

/** The values of secrets in the versions of `measured`; changed ones are left out. Throws when one cannot be opened. */
export async function readSecretValues(db: Records, measured: readonly SecretRow[]): Promise<Map<string, string>> {
  const wanted = JSON.stringify(measured.map(({ id, version }) => [id, version]))
  const parts = await db
    .select()
    .from(secretParts)
    .where(sql`(secret_id, version) IN (SELECT value ->> 0, value ->> 1 FROM json_each(${wanted}))`)
    .orderBy(secretParts.secretId, secretParts.part)
    .all()
  const values = measured.flatMap((row) => {
    const own = parts.filter(({ secretId }) => secretId === row.id)
    // An empty value has no parts.
    return own.length === 0 && row.bytes > 0 ? [] : [[row.name, own.map((part) => openPart(db, row, part)).join('')] as const]
  })
  return new Map(values)
}

/** Opens a part. Throws when it cannot be opened. */
export function openPart(
  { vault }: Records,
  { id, teamId }: Pick<SecretRow, 'id' | 'teamId'>,
  { version, part, sealed }: Pick<PartRow, 'version' | 'part' | 'sealed'>,
): string {
  const text = vault.open(placeOfPart({ id, teamId, version }, part), sealed)
  if (text !== null) return text
  throw new Error(`secret ${id} was sealed under a TOKEN_SECRET that this plane does not have: add it to TOKEN_SECRET_PREVIOUS`)
}

/** The vault place of a part of a value: it opens for no other secret, version, part or account (SEAL-2). */
export function placeOfPart({ id, teamId, version }: Pick<SecretRow, 'id' | 'teamId' | 'version'>, part: number) {
  return ['secrets', id, String(version), String(part), teamId] as const
}

function isStill({ version, description }: SecretRow): SQL {
  return sql`(${secrets.version} = ${version} AND ${secrets.description} IS ${description})`
}

function published(teamId: string) {
  return and(eq(secrets.teamId, teamId), gt(secrets.version, UNPUBLISHED))
}

/** Statements that delete leftovers of a team's crashed requests: claims, and parts that no secret points to. */
function leftovers(db: Database, teamId: string, nowMs: number): Statement[] {
  const beforeMs = nowMs - LEFTOVER_AFTER_MS
  const isUnused = sql`secret_id IN (SELECT id FROM secrets WHERE team_id = ${teamId})
    AND version <> (SELECT version FROM secrets WHERE id = secret_id)`
  return [
    db.delete(secrets).where(and(eq(secrets.teamId, teamId), eq(secrets.version, UNPUBLISHED), lt(secrets.createdAt, beforeMs))),
    db.delete(secretParts).where(and(isUnused, lt(secretParts.version, beforeMs * VERSIONS_PER_MS))),
  ]
}

// Unpublished parts count too; otherwise requests aborted on purpose could fill the database with unreferenced parts.
function insertPart(db: Database, { id, teamId, version }: SecretRow, part: number, sealed: string): Statement {
  const stored = sql`(SELECT COALESCE(SUM(octet_length(sealed)), 0) FROM secret_parts WHERE secret_id IN (SELECT id FROM secrets WHERE team_id = ${teamId}))`
  const bound = sql`${STORED_FACTOR} * ${boundOf(teamId, 'secretBytes')} + ${STORED_SLACK_BYTES}`
  const isThere = sql`EXISTS (SELECT 1 FROM secrets WHERE id = ${id} AND team_id = ${teamId})`
  const values = { secretId: id, version, part, sealed }
  return db.insert(secretParts).select(selectOf(secretParts, values, sql`WHERE ${isThere} AND ${stored} + ${sealed.length} <= ${bound}`))
}

function hasParts({ id, version }: SecretRow, count: number): SQL {
  return sql`(SELECT COUNT(*) FROM secret_parts WHERE secret_id = ${id} AND version = ${version}) >= ${count}`
}

/**
 * Runs statements in batches; returns whether the first of `last` found its row, on which the statements after it depend. A batch is one
 * transaction of bounded size.
 */
async function runInBatches(db: Database, writes: readonly Statement[], last: readonly Statement[]): Promise<boolean> {
  const rest = [...writes]
  while (rest.length > BATCH_STATEMENTS) await runBatch(db, rest.splice(0, BATCH_STATEMENTS))
  const results = await runBatch(db, [...rest, ...last])
  const found = results[rest.length]
  return Array.isArray(found) && found.length > 0
}

function runBatch(db: Database, [first, ...others]: readonly Statement[]): Promise<unknown[]> {
  return first ? db.batch([first, ...others]) : Promise.resolve([])
}
