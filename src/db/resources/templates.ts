import { and, eq, or, type SQL, sql } from 'drizzle-orm'
import type { SearchQuery } from '../../contract/list-query.ts'
import { MAX_NAMED, type Named } from '../../domain/plan/effect.ts'
import type { TemplateConfig } from '../../domain/resources/record.ts'
import type { Place, Vault } from '../../platform/seal.ts'
import { hasRoom } from '../bounds.ts'
import type { Database, Records, Statement } from '../client.ts'
import { isBehind, orderOf, positionOf, searched } from '../list-order.ts'
import { type ListPosition, readInPieces } from '../rows-in-pieces.ts'
import { registries, templates } from '../schema.ts'
import { openContainer, type Sealed, sealContainer } from '../sealed-env.ts'
import { selectOf } from '../select-of.ts'
import { type DeleteOutcome, deleteUnused } from './delete-unused.ts'
import { type NamedRow, named, usersOfTemplate } from './resource-users.ts'

/** A template with the revision that guards its update. */
export interface StoredTemplate {
  template: TemplateConfig
  revision: number
}

/**
 * Stores a template; of two concurrent ones with the same name, one is stored (TPL-6). `together`: statements that depend on whether it was
 * stored.
 */
export async function insertTemplate(
  db: Records,
  template: TemplateConfig,
  nowMs: number,
  together: readonly Statement[],
): Promise<'written' | 'nameTaken' | 'full'> {
  const { id, teamId, name, isPublic } = template
  const config = sql`${configText(db.vault, template)}`
  const values = { id, teamId, name, isPublic, config, registryId: registryOf(template), revision: sql`1`, createdAt: nowMs }
  const [result, [taken]] = await db.batch([
    db
      .insert(templates)
      .select(selectOf(templates, values, sql`WHERE ${hasRoom(templates, teamId)}`))
      .onConflictDoNothing({ target: [templates.teamId, templates.name] }),
    db
      .select({ id: templates.id })
      .from(templates)
      .where(and(eq(templates.teamId, teamId), eq(templates.name, name))),
    ...together,
  ])
  if (result.meta.changes > 0) return 'written'
  return taken ? 'nameTaken' : 'full'
}

/** A team's own template, or undefined when it is unknown, deleted or another team's. */
export async function findOwnTemplate(db: Records, teamId: string, id: string): Promise<StoredTemplate | undefined> {
  const row = await db.select().from(templates).where(ownedBy(teamId, id)).get()
  return row && { template: toTemplate(db.vault, row), revision: row.revision }
}

/** Templates of a team that name a credential: the first ones, and their total number. */
export async function listTemplatesOfRegistry(db: Database, teamId: string, registryId: string): Promise<Named<NamedRow>> {
  const rows = await db
    .select({ id: templates.id, name: templates.name, total: sql<number>`COUNT(*) OVER ()` })
    .from(templates)
    .where(and(eq(templates.registryId, registryId), eq(templates.teamId, teamId)))
    .limit(MAX_NAMED)
  return named(rows)
}

/** The id of a team's template with this name, or undefined. */
export async function findTemplateId(db: Database, teamId: string, name: string): Promise<string | undefined> {
  const named = and(eq(templates.teamId, teamId), eq(templates.name, name))
  return (await db.select({ id: templates.id }).from(templates).where(named).get())?.id
}

/** A template that a team may read: its own, or any public one (TPL-1). */
export function findReadableTemplate(db: Records, teamId: string, id: string): Promise<TemplateConfig | undefined> {
  return findOne(db, and(eq(templates.id, id), or(eq(templates.teamId, teamId), eq(templates.isPublic, true))))
}

/** A public template of any owner. */
export function findPublicTemplate(db: Records, id: string): Promise<TemplateConfig | undefined> {
  return findOne(db, and(eq(templates.id, id), eq(templates.isPublic, true)))
}

/**
 * At most `limit` of a team's own templates after `after` that match a search, in its order. The id breaks ties, so that paging neither
 * skips nor repeats one (PAG-8).
 */
export async function listTemplates(
  db: Records,
  teamId: string,
  after: ListPosition | null,
  limit: number,
  search: SearchQuery = {},
): Promise<{ template: TemplateConfig; position: ListPosition }[]> {
  const read = (position: ListPosition | null, size: number) => readPage(db, teamId, position, size, search)
  return readInPieces(after, limit, read)
}

async function readPage(db: Records, teamId: string, after: ListPosition | null, limit: number, search: SearchQuery) {
  const sort = search.sort ?? 'newest'
  const rows = await db
    .select()
    .from(templates)
    .where(isListed(teamId, after, search))
    .orderBy(...orderOf(templates, sort))
    .limit(limit)
    .all()
  return rows.map((row) => ({ template: toTemplate(db.vault, row), position: positionOf(sort, row) }))
}

/** Sizes in bytes of the rows that `listTemplates` would read. */
export async function measureTemplates(
  db: Database,
  teamId: string,
  after: ListPosition | null,
  limit: number,
  search: SearchQuery = {},
): Promise<number[]> {
  const rows = await db
    .select({ bytes: sql<number>`octet_length(${templates.config})` })
    .from(templates)
    .where(isListed(teamId, after, search))
    .orderBy(...orderOf(templates, search.sort ?? 'newest'))
    .limit(limit)
    .all()
  return rows.map(({ bytes }) => bytes)
}

/** Number of a team's own templates. */
export async function countTemplates(db: Database, teamId: string): Promise<number> {
  return await db.$count(templates, eq(templates.teamId, teamId))
}

/**
 * Writes a template if its row still has `revision` and no other template of the team has its name; 'stale' when another request was
 * faster.
 */
export async function updateTemplate(
  db: Records,
  template: TemplateConfig,
  revision: number,
  together: readonly Statement[],
): Promise<'written' | 'nameTaken' | 'stale'> {
  const { id, teamId, name, isPublic } = template
  const current = and(ownedBy(teamId, id), eq(templates.revision, revision))
  const free = sql`NOT EXISTS (SELECT 1 FROM ${templates} AS other WHERE other.team_id = ${teamId} AND other.name = ${name} AND other.id <> ${id})`
  const [result, [unchanged]] = await db.batch([
    db
      .update(templates)
      .set({ name, isPublic, config: sql`${configText(db.vault, template)}`, registryId: registryOf(template), revision: revision + 1 })
      .where(and(current, free)),
    db.select({ id: templates.id }).from(templates).where(current),
    ...together,
  ])
  if (result.meta.changes > 0) return 'written'
  return unchanged ? 'nameTaken' : 'stale'
}

/** The revision of a team's own template, or undefined. */
export async function findRevision(db: Database, teamId: string, id: string): Promise<number | undefined> {
  return (await db.select({ revision: templates.revision }).from(templates).where(ownedBy(teamId, id)).get())?.revision
}

/** Deletes a template with this revision from which no live pod or endpoint was made (TPL-5). */
export function deleteTemplate(
  db: Database,
  teamId: string,
  id: string,
  revision: number,
  together: readonly Statement[],
): Promise<DeleteOutcome> {
  return deleteUnused(db, templates, teamId, id, eq(templates.revision, revision), usersOfTemplate(teamId, id), together)
}

function isListed(teamId: string, after: ListPosition | null, search: SearchQuery): SQL | undefined {
  return and(eq(templates.teamId, teamId), isBehind(templates, search.sort ?? 'newest', after), searched(templates.name, search))
}

async function findOne(db: Records, where: SQL | undefined): Promise<TemplateConfig | undefined> {
  const row = await db.select().from(templates).where(where).get()
  return row && toTemplate(db.vault, row)
}

/** The credential is stored in its own column; one that was deleted meanwhile becomes null, as if it had been deleted later (REG-2). */
function registryOf({ teamId, container }: TemplateConfig): SQL {
  return sql`(SELECT ${registries.id} FROM ${registries} WHERE ${and(eq(registries.teamId, teamId), eq(registries.id, container.registry ?? ''))})`
}

function configText(vault: Vault, template: TemplateConfig): string {
  return JSON.stringify(sealTemplate(vault, { ...template, container: { ...template.container, registry: null } }))
}

/** Seals the variables of a template for its row, to be stored in D1 (SEAL-2). */
export function sealTemplate(vault: Vault, template: TemplateConfig): Sealed<TemplateConfig> {
  return sealContainer(vault, placeOf(template), template)
}

/** Opens a stored template. Throws when its variables cannot be opened. */
export function openTemplate(vault: Vault, kept: Sealed<TemplateConfig>): TemplateConfig {
  return openContainer<TemplateConfig>(vault, placeOf(kept), kept)
}

/** Converts a row to an opened template. */
export function toTemplate(vault: Vault, { config, registryId }: typeof templates.$inferSelect): TemplateConfig {
  const template = openTemplate(vault, config)
  return { ...template, container: { ...template.container, registry: registryId } }
}

function placeOf({ id, teamId }: Pick<TemplateConfig, 'id' | 'teamId'>): Place {
  return ['templates', id, 'env', teamId]
}

function ownedBy(teamId: string, id: string) {
  return and(eq(templates.teamId, teamId), eq(templates.id, id))
}
