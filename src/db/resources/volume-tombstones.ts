import { and, asc, desc, eq, gt, inArray, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import type { Database, Statement } from '../client.ts'
import { globalVolumes, networkVolumes, volumeTombstones } from '../schema.ts'

export type TombstoneRow = typeof volumeTombstones.$inferSelect

/** Tombstones of one list. */
const MAX_LISTED = 1000

/** For the batch that deletes a volume, behind that statement: its data is still to be wiped (VOL-6). One that is still there is not buried. */
export function buryVolume(db: Database, volume: Omit<TombstoneRow, 'wipedAt'>): Statement {
  const { volumeId, kind, teamId, dataCenterId, sizeGb, deletedAt } = volume
  const table = kind === 'network' ? networkVolumes : globalVolumes
  return db
    .insert(volumeTombstones)
    .select(
      sql`SELECT ${volumeId}, ${kind}, ${teamId}, ${dataCenterId}, ${sizeGb}, ${deletedAt}, NULL
        WHERE NOT EXISTS (SELECT 1 FROM ${table} WHERE ${eq(table.id, volumeId)})`,
    )
    .onConflictDoNothing()
}

/** For the batch that deletes all volumes of a team, in front of those statements (VOL-6). */
export function buryVolumesOf(db: Database, teamId: string, nowMs: number): Record<'networkTombstones' | 'globalTombstones', Statement> {
  const { id, dataCenterId, sizeGb } = networkVolumes
  return {
    networkTombstones: db
      .insert(volumeTombstones)
      .select(
        sql`SELECT ${id}, 'network', ${teamId}, ${dataCenterId}, ${sizeGb}, ${nowMs}, NULL FROM ${networkVolumes} WHERE ${eq(networkVolumes.teamId, teamId)}`,
      ),
    globalTombstones: db
      .insert(volumeTombstones)
      .select(
        sql`SELECT ${globalVolumes.id}, 'global', ${teamId}, NULL, NULL, ${nowMs}, NULL FROM ${globalVolumes} WHERE ${eq(globalVolumes.teamId, teamId)}`,
      ),
  }
}

/** Where a host looks for volumes. */
export interface VolumeReach {
  dataCenterId: string
  kinds: readonly ('network' | 'global')[]
}

/** A volume that a host of its data center can get at; a global one has no data center. */
function isWithin({ dataCenterId, kinds }: VolumeReach): SQL | undefined {
  return or(
    kinds.includes('network') ? eq(volumeTombstones.dataCenterId, dataCenterId) : sql`0`,
    kinds.includes('global') ? isNull(volumeTombstones.dataCenterId) : sql`0`,
  )
}

/** Notes that nothing is left of volumes, as far as the host that says so can get at them (VOL-7). */
export function noteWiped(db: Database, reach: VolumeReach, ids: readonly string[], nowMs: number): Statement {
  return db
    .update(volumeTombstones)
    .set({ wipedAt: nowMs })
    .where(and(inArray(volumeTombstones.volumeId, [...ids]), isNull(volumeTombstones.wipedAt), isWithin(reach)))
}

/** Forgets volumes that were wiped before then. */
export function forgetWiped(db: Database, beforeMs: number): Statement {
  return db.delete(volumeTombstones).where(lt(volumeTombstones.wipedAt, beforeMs))
}

const REF = { kind: volumeTombstones.kind, id: volumeTombstones.volumeId }

/** What nobody has wiped yet of what a host can get at, longest waiting first. */
export function listToWipe(db: Database, reach: VolumeReach, limit: number) {
  return db
    .select(REF)
    .from(volumeTombstones)
    .where(and(isWithin(reach), isNull(volumeTombstones.wipedAt)))
    .orderBy(asc(volumeTombstones.deletedAt), asc(volumeTombstones.volumeId))
    .limit(limit)
}

/** What another host has wiped since then: this one may hold a copy of its own. */
export function listWipedElsewhere(db: Database, reach: VolumeReach, sinceMs: number, limit: number) {
  return db
    .select(REF)
    .from(volumeTombstones)
    .where(and(isWithin(reach), gt(volumeTombstones.wipedAt, sinceMs)))
    .orderBy(asc(volumeTombstones.wipedAt), asc(volumeTombstones.volumeId))
    .limit(limit)
}

/** For the operator: those that wait first, then the last that were wiped. */
export function listTombstones(db: Database): Promise<TombstoneRow[]> {
  return db
    .select()
    .from(volumeTombstones)
    .orderBy(sql`${volumeTombstones.wipedAt} IS NOT NULL`, desc(volumeTombstones.deletedAt), asc(volumeTombstones.volumeId))
    .limit(MAX_LISTED)
    .all()
}

/** The operator has wiped it; false when it does not wait for that. */
export async function wipeByHand(db: Database, id: string, nowMs: number, note: Statement): Promise<boolean> {
  const [result] = await db.batch([
    db
      .update(volumeTombstones)
      .set({ wipedAt: nowMs })
      .where(and(eq(volumeTombstones.volumeId, id), isNull(volumeTombstones.wipedAt))),
    note,
  ])
  return result.meta.changes > 0
}
