import { and, eq } from 'drizzle-orm'
import type { Database } from '../client.ts'
import { allocations, hostGpus, hosts } from '../schema.ts'

/** What a pod could have of its host: what nobody holds, and what it holds itself. */
export interface PodRoom {
  gpus: number
  vcpus: number
  memoryMb: number
  diskGb: number
}

/** Null for a pod that holds nothing, and on a host that is removed. */
export async function readPodRoom(db: Database, podId: string, hostId: string, gpuTypeId: string | null): Promise<PodRoom | null> {
  const [[host], [held], [gpus]] = await db.batch([
    db.select().from(hosts).where(eq(hosts.id, hostId)),
    db.select().from(allocations).where(eq(allocations.id, podId)),
    db
      .select({ free: hostGpus.free })
      .from(hostGpus)
      .where(and(eq(hostGpus.hostId, hostId), eq(hostGpus.gpuTypeId, gpuTypeId ?? ''))),
  ])
  if (!host || !held || host.status === 'REMOVED') return null
  return {
    gpus: (gpus?.free ?? 0) + held.gpuCount,
    vcpus: host.vcpuFree + held.vcpu,
    memoryMb: host.memoryMbFree + held.memoryMb,
    diskGb: host.diskGbFree + held.diskGb,
  }
}
