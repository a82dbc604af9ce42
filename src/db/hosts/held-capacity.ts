import { and, eq, inArray, sql } from 'drizzle-orm'
import type { HeldCapacity } from '../../domain/preemption/plan-preemption.ts'
import type { Database } from '../client.ts'
import { isOneOf } from '../one-of.ts'
import { allocations } from '../tables/hosts/hosts.ts'
import { endpoints } from '../tables/workloads/endpoints.ts'

/** Online hosts with workers of an account. */
export async function listHostsOfTeam(db: Database, teamId: string): Promise<Set<string>> {
  const own = db.select({ id: endpoints.id }).from(endpoints).where(eq(endpoints.teamId, teamId))
  // A join would begin with all online hosts.
  const isOnline = sql`(SELECT status FROM hosts WHERE id = ${allocations.hostId}) = 'ONLINE'`
  const rows = await db
    .select({ hostId: allocations.hostId })
    .from(allocations)
    .where(and(inArray(allocations.ownerId, own), isOnline))
  return new Set(rows.map(({ hostId }) => hostId))
}

/** All allocations on some hosts, of any account: for the plane itself, never for a tenant. */
export async function listHeldCapacity(db: Database, hostIds: readonly string[]): Promise<HeldCapacity[]> {
  const rows = await db.select().from(allocations).where(isOneOf(allocations.hostId, hostIds))
  return rows.map(({ id, hostId, teamId, kind, ownerId, gpuTypeId, gpuCount, vcpu, memoryMb, diskGb }) => ({
    ...{ id, hostId, teamId, kind, ownerId, memoryMb, diskGb },
    gpu: gpuTypeId === null ? null : { typeId: gpuTypeId, count: gpuCount },
    vcpus: vcpu,
  }))
}

/** Names of an account's endpoints, by id. */
export async function listEndpointNames(db: Database, teamId: string, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db
    .select({ id: endpoints.id, name: endpoints.name })
    .from(endpoints)
    .where(and(eq(endpoints.teamId, teamId), isOneOf(endpoints.id, ids)))
  return new Map(rows.map(({ id, name }) => [id, name]))
}
