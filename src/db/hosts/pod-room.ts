import { and, eq } from 'drizzle-orm'
import { diskRoom } from '../../domain/host/disk-share.ts'
import type { Database } from '../client.ts'
import { allocations, hostGpus, hosts } from '../schema.ts'
import type { PodRow } from '../sealed-pod.ts'
import { diskUses, selectHasOthers, selectOwnDisk } from './disk-share.ts'

/** What a pod could have of its host: what nobody holds, and what it holds itself. */
export interface PodRoom {
  gpus: number
  vcpus: number
  memoryMb: number
  diskGb: number
  /** Of its disk what the account may hold beside others (SHR-41). */
  diskShareGb: number
}

/** Null for a pod that holds nothing, and on a host that is removed. */
export async function readPodRoom(
  db: Database,
  { id, teamId, hostId }: Pick<PodRow, 'id' | 'teamId' | 'hostId'>,
  gpuTypeId: string | null,
): Promise<PodRoom | null> {
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
