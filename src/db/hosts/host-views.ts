import { and, count, eq, inArray, ne, notExists, or } from 'drizzle-orm'
import type { Database, Statement } from '../client.ts'
import { completeWipes } from '../resources/volume-tombstones.ts'
import { allocations, hostGpus, hosts } from '../schema.ts'

export type HostRow = typeof hosts.$inferSelect
export type HostGpuRow = typeof hostGpus.$inferSelect

/** A host with its GPUs and the number of workloads with capacity on it. */
export interface HostRecord {
  host: HostRow
  gpus: HostGpuRow[]
  workloads: { workers: number; pods: number }
}

/** Hosts that are not removed, by name. */
export async function listHosts(db: Database): Promise<HostRecord[]> {
  const present = db.select({ id: hosts.id }).from(hosts).where(ne(hosts.status, 'REMOVED'))
  const [rows, gpus, counts] = await db.batch([
    db.select().from(hosts).where(ne(hosts.status, 'REMOVED')).orderBy(hosts.name, hosts.id),
    db.select().from(hostGpus).where(inArray(hostGpus.hostId, present)).orderBy(hostGpus.gpuTypeId),
    countWorkloads(db),
  ])
  const gpusOf = Map.groupBy(gpus, (gpu) => gpu.hostId)
  const countsOf = Map.groupBy(counts, (row) => row.hostId)
  return rows.map((host) => ({ host, gpus: gpusOf.get(host.id) ?? [], workloads: sumUp(countsOf.get(host.id) ?? []) }))
}

/** One host that is not removed, or undefined. */
export async function findHost(db: Database, id: string): Promise<HostRecord | undefined> {
  const [[host], gpus, counts] = await db.batch([
    db
      .select()
      .from(hosts)
      .where(and(eq(hosts.id, id), ne(hosts.status, 'REMOVED'))),
    db.select().from(hostGpus).where(eq(hostGpus.hostId, id)).orderBy(hostGpus.gpuTypeId),
    countWorkloads(db, id),
  ])
  return host && { host, gpus, workloads: sumUp(counts) }
}

/** Status and cordon of a host that is not removed, or undefined. */
export function findHostState(db: Database, id: string): Promise<Pick<HostRow, 'status' | 'cordonedAt'> | undefined> {
  return db
    .select({ status: hosts.status, cordonedAt: hosts.cordonedAt })
    .from(hosts)
    .where(and(eq(hosts.id, id), ne(hosts.status, 'REMOVED')))
    .get()
}

/**
 * Marks a host as removed if it is offline or has no workloads; false when it is absent or in use. Checked inside the UPDATE, so that no
 * placement can come in between. Deleted volumes stop waiting for the host (EDG-3).
 */
export async function removeIdleHost(db: Database, id: string, note: Statement, nowMs: number): Promise<boolean> {
  const placed = db.select({ id: allocations.id }).from(allocations).where(eq(allocations.hostId, hosts.id))
  const remove = db
    .update(hosts)
    .set({ status: 'REMOVED' })
    .where(and(eq(hosts.id, id), ne(hosts.status, 'REMOVED'), or(eq(hosts.status, 'OFFLINE'), notExists(placed))))
  const [result] = await db.batch([remove, note, completeWipes(db, nowMs)])
  return result.meta.changes > 0
}

function countWorkloads(db: Database, hostId?: string) {
  return db
    .select({ hostId: allocations.hostId, kind: allocations.kind, count: count() })
    .from(allocations)
    .where(hostId === undefined ? undefined : eq(allocations.hostId, hostId))
    .groupBy(allocations.hostId, allocations.kind)
}

function sumUp(counts: readonly { kind: 'worker' | 'pod'; count: number }[]): HostRecord['workloads'] {
  const of = (kind: 'worker' | 'pod') => counts.find((row) => row.kind === kind)?.count ?? 0
  return { workers: of('worker'), pods: of('pod') }
}
