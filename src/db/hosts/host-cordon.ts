import { and, eq, isNull, ne, sql } from 'drizzle-orm'
import type { GpuProblem } from '../../host-protocol/messages.ts'
import type { Database, Statement } from '../client.ts'
import { allocations, hosts } from '../schema.ts'

/** Cordons a host for the operator's reason. A host that is cordoned already keeps its time. False when it is absent. */
export async function cordonByOperator(
  db: Database,
  hostId: string,
  { reason, draining, nowMs }: { reason: string | null; draining: boolean; nowMs: number },
  note: Statement,
): Promise<boolean> {
  const cordonedAt = sql`COALESCE(${hosts.cordonedAt}, ${nowMs})`
  const drain = draining ? { draining } : {}
  const cordon = db
    .update(hosts)
    .set({ cordonedAt, cordonReason: reason, cordonBy: 'operator', ...drain })
    .where(present(hostId))
  return changed((await db.batch([cordon, note]))[0])
}

/** Uncordons a host. False when it is absent. */
export async function liftCordon(db: Database, hostId: string, note: Statement): Promise<boolean> {
  const lift = db.update(hosts).set({ cordonedAt: null, cordonReason: null, cordonBy: null, draining: false }).where(present(hostId))
  return changed((await db.batch([lift, note]))[0])
}

/** Whether workloads must leave a host, and why. Null for an unknown or removed host. */
export async function findDeparture(db: Database, hostId: string): Promise<'lost' | 'draining' | 'none' | null> {
  const [row] = await db.select({ lostAt: hosts.lostAt, draining: hosts.draining }).from(hosts).where(present(hostId))
  if (!row) return null
  if (row.lostAt !== null) return 'lost'
  return row.draining ? 'draining' : 'none'
}

/** Known problems of a host's GPUs; null for an unknown or removed host. */
export async function findGpuProblems(db: Database, hostId: string): Promise<GpuProblem[] | null> {
  const [row] = await db.select({ gpuProblems: hosts.gpuProblems }).from(hosts).where(present(hostId))
  return row?.gpuProblems ?? null
}

/** Stores the current GPU problems, and with a reason cordons the host, unless it is cordoned already. */
export async function saveGpuProblems(
  db: Database,
  hostId: string,
  gpuProblems: GpuProblem[],
  reason: string | null,
  nowMs: number,
  note: Statement,
): Promise<void> {
  const save = db.update(hosts).set({ gpuProblems }).where(present(hostId))
  const cordon = db
    .update(hosts)
    .set({ cordonedAt: nowMs, cordonReason: reason, cordonBy: 'health' })
    .where(and(present(hostId), isNull(hosts.cordonedAt)))
  await (reason === null ? save : db.batch([save, cordon, note]))
}

/** The workers with capacity on a host, by endpoint. */
export async function listWorkersOn(db: Database, hostId: string): Promise<Map<string, string[]>> {
  const rows = await db
    .select({ id: allocations.id, ownerId: allocations.ownerId })
    .from(allocations)
    .where(and(eq(allocations.hostId, hostId), eq(allocations.kind, 'worker')))
  const byOwner = Map.groupBy(rows, (row) => row.ownerId)
  return new Map([...byOwner].map(([ownerId, own]) => [ownerId, own.map(({ id }) => id)]))
}

function present(hostId: string) {
  return and(eq(hosts.id, hostId), ne(hosts.status, 'REMOVED'))
}

function changed(result: { meta: { changes: number } }): boolean {
  return result.meta.changes > 0
}
