import { and, desc, eq, isNull, lt, or, sql } from 'drizzle-orm'
import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import type { Database, Records, Statement } from '../client.ts'
import { endpoints, releases } from '../schema.ts'
import { openConfig, sealConfig } from './endpoint-config.ts'

export type ReleaseRow = typeof releases.$inferSelect

/** Position in a list that runs newest first. */
export interface EndpointPosition {
  createdAt: number
  id: string
}

/** Stores an endpoint together with its first release (END-14), and with whatever else belongs to its create. */
export async function insertEndpoint(
  db: Records,
  config: EndpointConfig,
  createdAtMs: number,
  release: ReleaseRow,
  together: readonly Statement[],
): Promise<void> {
  const { id, teamId, name, revision } = config
  await db.batch([
    db
      .insert(endpoints)
      .values({ id, teamId, name, config: sealConfig(db.vault, config), revision, createdAt: createdAtMs, deletedAt: null }),
    db.insert(releases).values(release),
    ...together,
  ])
}

/** A team's endpoint; null when it is unknown, deleted or another team's. */
export async function findEndpoint(db: Records, teamId: string, id: string): Promise<EndpointConfig | null> {
  const row = await db.select({ config: endpoints.config }).from(endpoints).where(ownedBy(teamId, id)).get()
  return row ? await openConfig(db.vault, row.config) : null
}

/** Says whether an endpoint is a team's, without reading its configuration: for the job API. */
export async function ownsEndpoint(db: Database, teamId: string, id: string): Promise<boolean> {
  const row = await db.select({ id: endpoints.id }).from(endpoints).where(ownedBy(teamId, id)).get()
  return row !== undefined
}

/** A team's endpoints behind `after`, newest first, at most `limit`. The id breaks ties, so no walk skips or repeats one (PAG-8). */
export async function listEndpoints(
  db: Records,
  teamId: string,
  after: EndpointPosition | null,
  limit: number,
): Promise<{ config: EndpointConfig; position: EndpointPosition }[]> {
  const behind = after
    ? or(lt(endpoints.createdAt, after.createdAt), and(eq(endpoints.createdAt, after.createdAt), lt(endpoints.id, after.id)))
    : undefined
  const rows = await db
    .select({ config: endpoints.config, createdAt: endpoints.createdAt, id: endpoints.id })
    .from(endpoints)
    .where(and(eq(endpoints.teamId, teamId), isNull(endpoints.deletedAt), behind))
    .orderBy(desc(endpoints.createdAt), desc(endpoints.id))
    .limit(limit)
    .all()
  return rows.map(({ config, createdAt, id }) => ({ config: openConfig(db.vault, config), position: { createdAt, id } }))
}

/** Releases of an endpoint, newest first, behind the one that is named; at most `limit`. The caller has checked whose endpoint it is. */
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
 * Writes a configuration if the row still has `revision`; false when another request was faster. The release row goes in only when
 * the guarded update did: D1 commits a batch whose update matched nothing.
 */
export async function updateEndpoint(db: Records, config: EndpointConfig, revision: number, release: ReleaseRow | null): Promise<boolean> {
  const update = db
    .update(endpoints)
    .set({ name: config.name, config: sealConfig(db.vault, config), revision: config.revision })
    .where(and(ownedBy(config.teamId, config.id), eq(endpoints.revision, revision)))
  if (!release) return (await update).meta.changes > 0
  const [updated] = await db.batch([
    update,
    db.insert(releases).select(
      sql`SELECT ${release.endpointId}, ${release.version}, ${release.id}, ${release.createdByUserId},
        ${JSON.stringify(release.diff)}, ${release.createdAt} WHERE changes() > 0`,
    ),
  ])
  return updated.meta.changes > 0
}

/** Marks an endpoint as deleted; false when it was not there. The row stays, so that its id is never given out again. */
export async function deleteEndpoint(db: Database, teamId: string, id: string, nowMs: number): Promise<boolean> {
  const result = await db.update(endpoints).set({ deletedAt: nowMs }).where(ownedBy(teamId, id))
  return result.meta.changes > 0
}

/** Says whether an endpoint of that id is a team's, or was until the team deleted it. */
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
