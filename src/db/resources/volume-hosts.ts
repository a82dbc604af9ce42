import { type AnyColumn, lt, type SQL, sql } from 'drizzle-orm'
import type { Database, Statement } from '../client.ts'
import { volumeHosts, volumeTombstones } from '../schema.ts'
import { selectOf } from '../select-of.ts'

/** Whether a workload that mounts a volume has or had an allocation on a host (EDG-1). */
export function isMountedBy(hostId: string, volumeId: AnyColumn): SQL {
  return sql`EXISTS (SELECT 1 FROM volume_hosts held WHERE held.volume_id = ${volumeId} AND held.host_id = ${hostId} AND held.mounted_at IS NOT NULL)`
}

/** Whether any host has a record of a volume. */
export function hasBeenOnAHost(volumeId: AnyColumn | SQL): SQL {
  return sql`EXISTS (SELECT 1 FROM volume_hosts held WHERE held.volume_id = ${volumeId})`
}

/** Whether a host that is not removed mounts or mounted a volume; with `isWaiting`, one that has not reported it wiped. */
export function isKnownToAHost(volumeId: AnyColumn, isWaiting: boolean): SQL {
  return sql`EXISTS (SELECT 1 FROM volume_hosts held JOIN hosts ON hosts.id = held.host_id
    WHERE held.volume_id = ${volumeId} AND held.mounted_at IS NOT NULL AND hosts.status <> 'REMOVED' ${isWaiting ? sql`AND held.wiped_at IS NULL` : sql``})`
}

/** Records that a host mounts a volume (EDG-1). For the batch that reserves the workload's capacity, after its allocation `id`. */
export function noteMount(
  db: Database,
  { id, hostId, volumeId }: { id: string; hostId: string; volumeId: string },
  nowMs: number,
): Statement {
  const isPlaced = sql`EXISTS (SELECT 1 FROM allocations WHERE id = ${id} AND host_id = ${hostId})`
  return db
    .insert(volumeHosts)
    .select(selectOf(volumeHosts, { volumeId, hostId, mountedAt: nowMs, wipedAt: null }, sql`WHERE ${isPlaced}`))
    .onConflictDoUpdate({
      target: [volumeHosts.volumeId, volumeHosts.hostId],
      set: { mountedAt: sql`COALESCE(${volumeHosts.mountedAt}, excluded.mounted_at)` },
    })
}

/** Deletes the hosts of volumes that were wiped before `beforeMs`. Must precede the statement that deletes their tombstones. */
export function deleteVolumeHosts(db: Database, beforeMs: number): Statement {
  const old = db.select({ id: volumeTombstones.volumeId }).from(volumeTombstones).where(lt(volumeTombstones.wipedAt, beforeMs))
  return db.delete(volumeHosts).where(sql`${volumeHosts.volumeId} IN ${old}`)
}
