import { and, eq, inArray, ne, notExists, or } from 'drizzle-orm'
import type { Database } from './client.ts'
import { allocations, hostGpus, hosts } from './schema.ts'

export type HostRow = typeof hosts.$inferSelect
export type HostGpuRow = typeof hostGpus.$inferSelect

/** Hosts that are not removed, by name, with their GPUs. */
export async function listHosts(db: Database): Promise<{ host: HostRow; gpus: HostGpuRow[] }[]> {
  const present = db.select({ id: hosts.id }).from(hosts).where(ne(hosts.status, 'REMOVED'))
  const [rows, gpus] = await db.batch([
    db.select().from(hosts).where(ne(hosts.status, 'REMOVED')).orderBy(hosts.name, hosts.id),
    db.select().from(hostGpus).where(inArray(hostGpus.hostId, present)).orderBy(hostGpus.gpuTypeId),
  ])
  return rows.map((host) => ({ host, gpus: gpus.filter((gpu) => gpu.hostId === host.id) }))
}

/** One host that is not removed, with its GPUs, or undefined. */
export async function findHost(db: Database, id: string): Promise<{ host: HostRow; gpus: HostGpuRow[] } | undefined> {
  const [[host], gpus] = await db.batch([
    db
      .select()
      .from(hosts)
      .where(and(eq(hosts.id, id), ne(hosts.status, 'REMOVED'))),
    db.select().from(hostGpus).where(eq(hostGpus.hostId, id)).orderBy(hostGpus.gpuTypeId),
  ])
  return host && { host, gpus }
}

/** Marks a host as removed if nothing is placed on it; false when it is absent or in use. Checked inside the UPDATE, so placement cannot slip in. */
export async function removeIdleHost(db: Database, id: string): Promise<boolean> {
  const placed = db.select({ id: allocations.id }).from(allocations).where(eq(allocations.hostId, hosts.id))
  const result = await db
    .update(hosts)
    .set({ status: 'REMOVED' })
    .where(and(eq(hosts.id, id), ne(hosts.status, 'REMOVED'), or(eq(hosts.status, 'OFFLINE'), notExists(placed))))
  return result.meta.changes > 0
}
