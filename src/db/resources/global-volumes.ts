import { and, eq, sql } from 'drizzle-orm'
import type { SearchQuery } from '../../contract/list-query.ts'
import { hasRoom } from '../bounds.ts'
import type { Database, Statement } from '../client.ts'
import { orderOf, searched } from '../list-order.ts'
import { globalVolumes } from '../schema.ts'
import { selectOf } from '../select-of.ts'
import { type DeleteOutcome, deleteUnused } from './delete-unused.ts'
import { usersOfGlobalVolume } from './resource-users.ts'

export type GlobalVolumeRow = typeof globalVolumes.$inferSelect

/**
 * Stores a volume; of two concurrent ones with the same name, one is stored (GLV-2). `together`: statements that depend on whether it was
 * stored.
 */
export async function insertGlobalVolume(
  db: Database,
  volume: GlobalVolumeRow,
  together: readonly Statement[],
): Promise<'written' | 'nameTaken' | 'full'> {
  const { teamId, name } = volume
  const [result, [taken]] = await db.batch([
    db
      .insert(globalVolumes)
      .select(selectOf(globalVolumes, volume, sql`WHERE ${hasRoom(globalVolumes, teamId)}`))
      .onConflictDoNothing({ target: [globalVolumes.teamId, globalVolumes.name] }),
    selectByName(db, teamId, name),
    ...together,
  ])
  if (result.meta.changes > 0) return 'written'
  return taken ? 'nameTaken' : 'full'
}

/** A team's volume, or undefined when it is unknown, deleted or another team's. */
export function findGlobalVolume(db: Database, teamId: string, id: string): Promise<GlobalVolumeRow | undefined> {
  return db.select().from(globalVolumes).where(ownedBy(teamId, id)).get()
}

/** A team's volumes that match a search, in its order. */
export function listGlobalVolumes(db: Database, teamId: string, search: SearchQuery = {}): Promise<GlobalVolumeRow[]> {
  return db
    .select()
    .from(globalVolumes)
    .where(and(eq(globalVolumes.teamId, teamId), searched(globalVolumes.name, search)))
    .orderBy(...orderOf(globalVolumes, search.sort ?? 'newest'))
    .all()
}

/** Renames a volume, unless another one of the team has the name. Returns the renamed volume, or the reason. */
export async function renameGlobalVolume(
  db: Database,
  before: GlobalVolumeRow,
  name: string,
  together: readonly Statement[],
): Promise<GlobalVolumeRow | 'nameTaken' | 'changed'> {
  const { teamId, id } = before
  const free = sql`NOT EXISTS (SELECT 1 FROM ${globalVolumes} AS other WHERE other.team_id = ${teamId} AND other.name = ${name} AND other.id <> ${id})`
  const [[renamed], [taken]] = await db.batch([
    db
      .update(globalVolumes)
      .set({ name })
      .where(and(ownedBy(teamId, id), eq(globalVolumes.name, before.name), free))
      .returning(),
    db
      .select({ id: globalVolumes.id })
      .from(globalVolumes)
      .where(and(ownedBy(teamId, id), eq(globalVolumes.name, before.name))),
    ...together,
  ])
  return renamed ?? (taken ? 'nameTaken' : 'changed')
}

/** Deletes an unused volume (GLV-2), if it still has the name of `before`. */
export function deleteGlobalVolume(
  db: Database,
  { teamId, id, name }: GlobalVolumeRow,
  together: readonly Statement[],
): Promise<DeleteOutcome> {
  return deleteUnused(db, globalVolumes, teamId, id, eq(globalVolumes.name, name), usersOfGlobalVolume(teamId, id), together)
}

function selectByName(db: Database, teamId: string, name: string) {
  return db
    .select({ id: globalVolumes.id })
    .from(globalVolumes)
    .where(and(eq(globalVolumes.teamId, teamId), eq(globalVolumes.name, name)))
}

function ownedBy(teamId: string, id: string) {
  return and(eq(globalVolumes.teamId, teamId), eq(globalVolumes.id, id))
}
