import { and, eq, type SQL, sql } from 'drizzle-orm'
import { diskRoom } from '../../domain/host/disk-share.ts'
import type { Resources } from '../../domain/host/resources.ts'
import type { Database } from '../client.ts'
import { allocations, hostGpus, hosts } from '../schema.ts'
import type { PodRow } from '../sealed-pod.ts'
import { diskUses, selectHasOthers, selectOwnDisk } from './disk-share.ts'

/**
 * The values of the row that reserves a pod's resources, for `selectOf`. The charge of a pod is in its own row, so that the allocation has
 * neither its start nor rates.
 */
export function podAllocation(
  { id, teamId, hostId, createdAtMs }: { id: string | SQL; teamId: string; hostId: string | SQL; createdAtMs: number },
  { gpu, vcpus, memoryMb, diskGb }: Resources,
) {
  return {
    id,
    teamId,
    hostId,
    kind: sql`'pod'`,
    ownerId: id,
    gpuTypeId: gpu?.typeId ?? null,
    gpuCount: gpu?.count ?? 0,
    vcpu: vcpus,
    memoryMb,
    diskGb,
    createdAt: createdAtMs,
    chargedFromMs: sql`NULL`,
    gpuNanosPerHour: sql`0`,
    cpuNanosPerHour: sql`0`,
    diskNanosPerHour: sql`0`,
  }
}

/** Capacity that a pod could have on its host: the free capacity plus its own. */
export interface PodCapacity extends Omit<Resources, 'gpu'> {
  gpus: number
  /** Disk that the account may use on this host besides other accounts (SHR-41), in GB. */
  diskShareGb: number
}

/** Null for a pod without an allocation, and on a removed host. */
export async function readPodCapacity(
  db: Database,
  { id, teamId, hostId }: Pick<PodRow, 'id' | 'teamId' | 'hostId'>,
  gpuTypeId: string | null,
): Promise<PodCapacity | null> {
  const [[host], [held], [gpus], shared, own] = await db.batch([
    db.select().from(hosts).where(eq(hosts.id, hostId)),
    db.select().from(allocations).where(eq(allocations.id, id)),
    db
      .select({ free: hostGpus.free })
      .from(hostGpus)
      .where(and(eq(hostGpus.hostId, hostId), eq(hostGpus.gpuTypeId, gpuTypeId ?? ''))),
    selectHasOthers(db, teamId),
    selectOwnDisk(db, teamId),
  ])
  if (!host || !held || host.status === 'REMOVED') return null
  const use = diskUses(shared, own, [host]).get(hostId)
  return {
    gpus: (gpus?.free ?? 0) + held.gpuCount,
    vcpus: host.vcpuFree + held.vcpu,
    memoryMb: host.memoryMbFree + held.memoryMb,
    diskGb: host.diskGbFree + held.diskGb,
    diskShareGb: use ? held.diskGb + diskRoom(use) : Number.POSITIVE_INFINITY,
  }
}
