import { and, asc, desc, eq, gt, inArray, isNull, lt, not, or, type SQL, sql } from 'drizzle-orm'
import type { Database, Statement } from '../client.ts'
import { isOneOf } from '../one-of.ts'
import { globalVolumes, networkVolumes, volumeHosts, volumeTombstones } from '../schema.ts'
import { selectOf } from '../select-of.ts'
import { deleteVolumeHosts, hasBeenOnAHost, isKnownToAHost } from './volume-hosts.ts'

export type TombstoneRow = typeof volumeTombstones.$inferSelect

/** Largest number of tombstones in a list. */
const MAX_LISTED = 1000

/**
 * Records that a deleted volume's data must be wiped (VOL-6), if any host may have it. For the batch that deletes the volume, after that
 * statement; a volume that still exists gets no tombstone.
 */
export function buryVolume(db: Database, volume: Omit<TombstoneRow, 'wipedAt'>): Statement {
  const { volumeId, kind, deletedAt } = volume
  const table = kind === 'network' ? networkVolumes : globalVolumes
  const buried = { ...volume, wipedAt: wipedAtBurial(sql`${volumeId}`, deletedAt) }
  return db
    .insert(volumeTombstones)
    .select(selectOf(volumeTombstones, buried, sql`WHERE NOT EXISTS (SELECT 1 FROM ${table} WHERE ${eq(table.id, volumeId)})`))
    .onConflictDoNothing()
}

/** Records all volumes of a team as deleted (VOL-6). For the batch that deletes them, before those statements. */
export function buryVolumesOf(db: Database, teamId: string, nowMs: number): Record<'networkTombstones' | 'globalTombstones', Statement> {
  const buried = (volumeId: SQL) => ({ volumeId, teamId, deletedAt: nowMs, wipedAt: wipedAtBurial(volumeId, nowMs) })
  const place = { dataCenterId: sql`${networkVolumes.dataCenterId}`, sizeGb: sql`${networkVolumes.sizeGb}` }
  const network = { ...buried(sql`${networkVolumes.id}`), kind: 'network', ...place } as const
  const global = { ...buried(sql`${globalVolumes.id}`), kind: 'global', dataCenterId: null, sizeGb: null } as const
  return {
    networkTombstones: db
      .insert(volumeTombstones)
      .select(selectOf(volumeTombstones, network, sql`FROM ${networkVolumes} WHERE ${eq(networkVolumes.teamId, teamId)}`)),
    globalTombstones: db
      .insert(volumeTombstones)
      .select(selectOf(volumeTombstones, global, sql`FROM ${globalVolumes} WHERE ${eq(globalVolumes.teamId, teamId)}`)),
  }
}

// A volume that was never on a host has nothing to wipe (EDG-3).
function wipedAtBurial(volumeId: SQL, nowMs: number): SQL {
  return sql`CASE WHEN ${hasBeenOnAHost(volumeId)} THEN NULL ELSE ${nowMs} END`
}

/** A host that requests volumes to wipe: the kinds that it can access, and the time since which it has processed its list. */
export interface VolumeReach {
  hostId: string
  dataCenterId: string
  kinds: readonly ('network' | 'global')[]
  sinceMs: number
}

/** A deleted volume that a host mounted and has not wiped, of a kind that it can access (EDG-2). */
function isHeldBy({ hostId, kinds }: VolumeReach): SQL | undefined {
  const held = sql`EXISTS (SELECT 1 FROM ${volumeHosts} WHERE ${volumeHosts.volumeId} = ${volumeTombstones.volumeId} AND ${volumeHosts.hostId} = ${hostId}
    AND ${volumeHosts.wipedAt} IS NULL)`
  return and(inArray(volumeTombstones.kind, [...kinds]), held)
}

/** A deleted volume whose hosts are all removed: each other host that can access its store wipes it too (EDG-4). */
function isInheritedBy({ hostId, dataCenterId, kinds, sinceMs }: VolumeReach): SQL | undefined {
  const { volumeId, kind } = volumeTombstones
  const isDone = sql`EXISTS (SELECT 1 FROM ${volumeHosts} WHERE ${volumeHosts.volumeId} = ${volumeId} AND ${volumeHosts.hostId} = ${hostId}
    AND ${volumeHosts.wipedAt} IS NOT NULL)`
  return and(
    or(eq(volumeTombstones.dataCenterId, dataCenterId), isNull(volumeTombstones.dataCenterId)),
    inArray(kind, [...kinds]),
    or(isNull(volumeTombstones.wipedAt), gt(volumeTombstones.wipedAt, sinceMs)),
    hasBeenOnAHost(volumeId),
    not(isKnownToAHost(volumeId, false)),
    not(isDone),
  )
}

/** Records volumes that a host reports as wiped, if it was to wipe them (VOL-7, EDG-2). */
export function noteWiped(db: Database, reach: VolumeReach, ids: readonly string[], nowMs: number): Statement {
  const wiped = { volumeId: sql`${volumeTombstones.volumeId}`, hostId: reach.hostId, mountedAt: null, wipedAt: nowMs }
  const said = and(isOneOf(volumeTombstones.volumeId, ids), or(isHeldBy(reach), isInheritedBy(reach)))
  return db
    .insert(volumeHosts)
    .select(selectOf(volumeHosts, wiped, sql`FROM ${volumeTombstones} WHERE ${said}`))
    .onConflictDoUpdate({ target: [volumeHosts.volumeId, volumeHosts.hostId], set: { wipedAt: sql`excluded.wiped_at` } })
}

/** Marks a deleted volume as wiped once a host has reported so, and every present host that mounted it has (EDG-3). */
export function completeWipes(db: Database, nowMs: number): Statement {
  const { volumeId, wipedAt } = volumeTombstones
  const isSaid = sql`EXISTS (SELECT 1 FROM ${volumeHosts} WHERE ${volumeHosts.volumeId} = ${volumeId} AND ${volumeHosts.wipedAt} IS NOT NULL)`
  return db
    .update(volumeTombstones)
    .set({ wipedAt: nowMs })
    .where(and(isNull(wipedAt), isSaid, not(isKnownToAHost(volumeId, true))))
}

/** Deletes tombstones of volumes that were wiped before `beforeMs`. */
export function deleteWiped(db: Database, beforeMs: number): Statement[] {
  return [deleteVolumeHosts(db, beforeMs), db.delete(volumeTombstones).where(lt(volumeTombstones.wipedAt, beforeMs))]
}

const REF = { kind: volumeTombstones.kind, id: volumeTombstones.volumeId }

/** Deleted volumes that a host mounted and has not wiped yet, longest waiting first. */
export function listToWipe(db: Database, reach: VolumeReach, limit: number) {
  return db
    .select(REF)
    .from(volumeHosts)
    .innerJoin(volumeTombstones, eq(volumeTombstones.volumeId, volumeHosts.volumeId))
    .where(and(eq(volumeHosts.hostId, reach.hostId), isNull(volumeHosts.wipedAt), inArray(volumeTombstones.kind, [...reach.kinds])))
    .orderBy(asc(volumeTombstones.deletedAt), asc(volumeTombstones.volumeId))
    .limit(limit)
}

/** Deleted volumes that a host inherits from removed hosts. */
export function listInherited(db: Database, reach: VolumeReach, limit: number) {
  return db
    .select(REF)
    .from(volumeTombstones)
    .where(isInheritedBy(reach))
    .orderBy(asc(volumeTombstones.deletedAt), asc(volumeTombstones.volumeId))
    .limit(limit)
}

/** Tombstones for the operator: unwiped volumes first, then wiped ones, each group by deletion, newest first. */
export function listTombstones(db: Database): Promise<TombstoneRow[]> {
  return db
    .select()
    .from(volumeTombstones)
    .orderBy(sql`${volumeTombstones.wipedAt} IS NOT NULL`, desc(volumeTombstones.deletedAt), asc(volumeTombstones.volumeId))
    .limit(MAX_LISTED)
    .all()
}

/** Records that the operator has wiped a volume; false when it does not wait for that. */
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
