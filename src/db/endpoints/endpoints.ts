import { and, desc, eq, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import type { SearchQuery } from '../../contract/list-query.ts'
import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import { boundOf, withinBudget } from '../accounts/budgets.ts'
import { runNamed } from '../batch.ts'
import type { Database, Records, Statement } from '../client.ts'
import { isBehind, orderOf, positionOf, searched } from '../list-order.ts'
import { isOneOf } from '../one-of.ts'
import { outcomeOf, required } from '../refusals.ts'
import { type ListPosition, readInPieces } from '../rows-in-pieces.ts'
import { endpoints, networkVolumes, releases } from '../schema.ts'
import { selectOf } from '../select-of.ts'
import { openConfig, sealConfig } from './endpoint-config.ts'

export type ReleaseRow = typeof releases.$inferSelect

/** Why an endpoint may not be stored: a budget of the team (BUDGET-1), or one of its network volumes does not exist. */
export type EndpointRefusal = 'endpoints' | 'storedBytes' | 'networkVolume'

/** Stores an endpoint with its first release (END-14) and further statements of its create, or says why nothing was stored. */
export async function insertEndpoint(
  db: Records,
  config: EndpointConfig,
  createdAtMs: number,
  release: ReleaseRow,
  together: readonly Statement[],
): Promise<'done' | EndpointRefusal> {
  const { teamId, name, revision } = config
  const sealed = sealConfig(db.vault, config)
  const conditions: Record<EndpointRefusal, SQL> = {
    endpoints: withinBudget(teamId, 'endpoints', 1),
    storedBytes: withinBudget(teamId, 'storedBytes', bytesOf(sealed)),
    networkVolume: hasVolumes(config),
  }
  const id = sql<string>`(CASE WHEN ${required(conditions)} THEN ${config.id} END)`
  const batch = db.batch([
    db.insert(endpoints).values({ id, teamId, name, config: sealed, revision, createdAt: createdAtMs, deletedAt: null }),
    db.insert(releases).values(release),
    ...together,
  ])
  return outcomeOf(batch, ['endpoints', 'storedBytes', 'networkVolume'])
}

/** A team's endpoint; null when it is unknown, deleted or another team's. */
export async function findEndpoint(db: Records, teamId: string, id: string): Promise<EndpointConfig | null> {
  const row = await db.select({ config: endpoints.config }).from(endpoints).where(ownedBy(teamId, id)).get()
  return row ? await openConfig(db.vault, row.config) : null
}

/** The named endpoints of a team, in one statement. The ids are one parameter, because D1 allows at most a hundred. */
export async function findEndpoints(db: Records, teamId: string, ids: readonly string[]): Promise<EndpointConfig[]> {
  const named = isOneOf(endpoints.id, ids)
  const rows = await db
    .select({ config: endpoints.config })
    .from(endpoints)
    .where(and(eq(endpoints.teamId, teamId), isNull(endpoints.deletedAt), named))
  // Bounded: seals are opened here, without calls.
  return Promise.all(rows.map(({ config }) => openConfig(db.vault, config)))
}

/** Whether a team owns an endpoint, without reading its configuration: for the job API. */
export async function ownsEndpoint(db: Database, teamId: string, id: string): Promise<boolean> {
  const row = await db.select({ id: endpoints.id }).from(endpoints).where(ownedBy(teamId, id)).get()
  return row !== undefined
}

/**
 * At most `limit` of a team's endpoints after `after` that match a search, in its order. The id breaks ties, so that paging neither skips
 * nor repeats one (PAG-8).
 */
export async function listEndpoints(
  db: Records,
  teamId: string,
  after: ListPosition | null,
  limit: number,
  search: SearchQuery = {},
): Promise<{ config: EndpointConfig; position: ListPosition }[]> {
  const read = (behind: ListPosition | null, size: number) => readPage(db, teamId, behind, size, search)
  return readInPieces(after, limit, read)
}

async function readPage(db: Records, teamId: string, after: ListPosition | null, limit: number, search: SearchQuery) {
  const sort = search.sort ?? 'newest'
  const rows = await db
    .select({ config: endpoints.config, createdAt: endpoints.createdAt, id: endpoints.id, name: endpoints.name })
    .from(endpoints)
    .where(and(isListed(teamId), isBehind(endpoints, sort, after), searched(endpoints.name, search)))
    .orderBy(...orderOf(endpoints, sort))
    .limit(limit)
    .all()
  return rows.map(({ config, ...row }) => ({ config: openConfig(db.vault, config), position: positionOf(sort, row) }))
}

/** Number of a team's endpoints. */
export async function countEndpoints(db: Database, teamId: string): Promise<number> {
  return await db.$count(endpoints, isListed(teamId))
}

const isListed = (teamId: string) => and(eq(endpoints.teamId, teamId), isNull(endpoints.deletedAt))

/** At most `limit` releases of an endpoint after `afterId`, newest first. The caller has checked the owner of the endpoint. */
export async function listReleases(db: Database, endpointId: string, afterId: string | null, limit: number): Promise<ReleaseRow[]> {
  const versionOfAfter = db
    .select({ version: releases.version })
    .from(releases)
    .where(and(eq(releases.endpointId, endpointId), eq(releases.id, afterId ?? '')))
  return db
    .select()
    .from(releases)
    .where(and(eq(releases.endpointId, endpointId), afterId === null ? undefined : lt(releases.version, versionOfAfter)))
    .orderBy(desc(releases.version))
    .limit(limit)
    .all()
}

/**
 * Writes a configuration if the row still has `revision`; 'lost' when another request was faster, else why it may not be stored. The release
 * row is inserted only if the guarded update changed a row, because D1 commits a batch whose update matched nothing. Releases beyond the
 * team's bound are deleted (END-32).
 */
export async function updateEndpoint(
  db: Records,
  config: EndpointConfig,
  revision: number,
  release: ReleaseRow | null,
  note: Statement,
): Promise<'done' | 'lost' | 'storedBytes' | 'networkVolume'> {
  const sealed = sealConfig(db.vault, config)
  const more = sql`${bytesOf(sealed) + (release ? bytesOf(release.diff) : 0)} - octet_length(config)`
  const storedBytes = sql`${more} <= 0 OR ${withinBudget(config.teamId, 'storedBytes', more)}`
  const may = required({ storedBytes, networkVolume: hasVolumes(config) })
  const update = db
    .update(endpoints)
    .set({ name: sql`CASE WHEN ${may} THEN ${config.name} END`, config: sealed, revision: config.revision })
    .where(and(ownedBy(config.teamId, config.id), eq(endpoints.revision, revision)))
  const added = release && db.insert(releases).select(selectOf(releases, release, sql`WHERE changes() > 0`))
  const dropped = release && dropOldReleases(db, config.teamId, release)
  const batch = runNamed(db, { updated: update, note, added, dropped })
  const outcome = await outcomeOf(batch, ['storedBytes', 'networkVolume'])
  return outcome === 'done' && (await batch).updated === 0 ? 'lost' : outcome
}

function dropOldReleases(db: Database, teamId: string, { endpointId, version }: ReleaseRow): Statement {
  const oldest = sql`${version} - ${boundOf(teamId, 'releasesPerEndpoint')}`
  return db.delete(releases).where(and(eq(releases.endpointId, endpointId), sql`${releases.version} <= ${oldest}`))
}

/** The deletion of a volume checks for endpoints in the same way, so of two concurrent requests one is refused (END-22). */
function hasVolumes({ teamId, networkVolumes: ids }: EndpointConfig): SQL {
  const owned = and(eq(networkVolumes.teamId, teamId), sql`${networkVolumes.id} = named.value`)
  return sql`NOT EXISTS (SELECT 1 FROM json_each(${JSON.stringify(ids)}) AS named
    WHERE NOT EXISTS (SELECT 1 FROM ${networkVolumes} WHERE ${owned}))`
}

/** Size of a configuration as requested, in bytes, which counts against the budget. */
export function configBytes(config: EndpointConfig): number {
  return bytesOf(config)
}

function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length
}

/**
 * Marks an endpoint as deleted; false when it did not exist. The row is retained, so that its id is never reused; its configuration and
 * releases are deleted (END-32).
 */
export async function deleteEndpoint(db: Database, teamId: string, id: string, nowMs: number, note: Statement): Promise<boolean> {
  const isDeleted = sql`EXISTS (SELECT 1 FROM endpoints WHERE id = ${id} AND team_id = ${teamId} AND deleted_at IS NOT NULL)`
  const [result] = await db.batch([
    db.update(endpoints).set({ deletedAt: nowMs, config: sql`'{}'` }).where(ownedBy(teamId, id)),
    note,
    db.delete(releases).where(and(eq(releases.endpointId, id), isDeleted)),
  ])
  return result.meta.changes > 0
}

/**
 * Claims an endpoint for deletion if it still has the revision of `before`: later updates do not find their revision. A claim whose request
 * crashed may be repeated. False when another request was faster.
 */
export async function claimEndpoint(db: Database, { id, teamId, revision }: EndpointConfig): Promise<boolean> {
  const isClaimed = sql`(${endpoints.revision} = ${revision + 1} AND ${endpoints.config} ->> '$.revision' = ${revision})`
  const result = await db
    .update(endpoints)
    .set({ revision: revision + 1 })
    .where(and(ownedBy(teamId, id), or(eq(endpoints.revision, revision), isClaimed)))
  return result.meta.changes > 0
}

/** Whether a team has an endpoint with this id, or had it until the team deleted it. */
export async function hasOrHadEndpoint(db: Database, teamId: string, id: string): Promise<boolean> {
  const row = await db
    .select({ id: endpoints.id })
    .from(endpoints)
    .where(and(eq(endpoints.teamId, teamId), eq(endpoints.id, id)))
    .get()
  return row !== undefined
}

function ownedBy(teamId: string, id: string) {
  return and(eq(endpoints.teamId, teamId), eq(endpoints.id, id), isNull(endpoints.deletedAt))
}
