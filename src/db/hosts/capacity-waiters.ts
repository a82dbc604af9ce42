import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import type { Database } from '../client.ts'
import type { Sealed } from '../sealed-env.ts'
import { capacityWaiters } from '../tables/hosts/capacity-waiters.ts'
import { endpoints } from '../tables/workloads/endpoints.ts'

/** Records that an endpoint waits for capacity; one that waits already keeps its place. */
export async function addCapacityWaiter(db: Database, endpointId: string, nowMs: number): Promise<void> {
  await db.insert(capacityWaiters).values({ endpointId, since: nowMs }).onConflictDoNothing()
}

/** Removes an endpoint from the capacity waiters. Idempotent. */
export async function removeCapacityWaiter(db: Database, endpointId: string): Promise<void> {
  await db.delete(capacityWaiters).where(eq(capacityWaiters.endpointId, endpointId))
}

/**
 * The endpoints that have waited longest, with their workers' requirements, which are not secret. Across teams: for the plane itself, never
 * for a tenant.
 */
export async function listCapacityWaiters(db: Database, limit: number): Promise<Sealed<EndpointConfig>[]> {
  const rows = await db
    .select({ config: endpoints.config })
    .from(capacityWaiters)
    .innerJoin(endpoints, and(eq(endpoints.id, capacityWaiters.endpointId), isNull(endpoints.deletedAt)))
    .orderBy(asc(capacityWaiters.since), asc(capacityWaiters.endpointId))
    .limit(limit)
  return rows.map((row) => row.config)
}

/** Times since which endpoints wait, longest first. Across teams: for the operator only. */
export async function listWaitingSince(db: Database, limit: number): Promise<number[]> {
  const rows = await db.select({ since: capacityWaiters.since }).from(capacityWaiters).orderBy(asc(capacityWaiters.since)).limit(limit)
  return rows.map(({ since }) => since)
}

/** A capacity waiter with its workers' requirements. */
export interface WaitingRow {
  since: number
  config: Sealed<EndpointConfig>
}

/** Capacity waiters after `after`, longest-waiting first. Across teams: for the operator, never for a tenant. */
export function listWaiting(db: Database, after: { since: number; endpointId: string } | null, limit: number): Promise<WaitingRow[]> {
  const behind = after ? [sql`(${capacityWaiters.since}, ${capacityWaiters.endpointId}) > (${after.since}, ${after.endpointId})`] : []
  return db
    .select({ since: capacityWaiters.since, config: endpoints.config })
    .from(capacityWaiters)
    .innerJoin(endpoints, and(eq(endpoints.id, capacityWaiters.endpointId), isNull(endpoints.deletedAt)))
    .where(and(...behind))
    .orderBy(asc(capacityWaiters.since), asc(capacityWaiters.endpointId))
    .limit(limit)
    .all()
}
