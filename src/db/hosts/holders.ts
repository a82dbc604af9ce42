import { and, eq, sql } from 'drizzle-orm'
import type { Holder } from '../../domain/explain/holders.ts'
import { SAVED_NANOS } from '../billing/spend.ts'
import type { Database } from '../client.ts'
import { allocations } from '../tables/hosts/hosts.ts'
import { endpoints } from '../tables/workloads/endpoints.ts'
import { pods } from '../tables/workloads/pods.ts'

const MAX_ROWS = 200

/** A worker of a team, and its endpoint. */
export type HeldByWorker = Holder & { endpointId: string }

/**
 * Pods of a team that hold compute and may be stopped, those with the smallest saving first, and its workers (WHY-14, WHY-15). Read at one
 * moment.
 */
export async function listHolders(db: Database, teamId: string): Promise<{ pods: Holder[]; workers: HeldByWorker[] }> {
  const held = {
    id: allocations.id,
    hostId: allocations.hostId,
    gpuTypeId: allocations.gpuTypeId,
    gpuCount: allocations.gpuCount,
    vcpus: allocations.vcpu,
    memoryMb: allocations.memoryMb,
    diskGb: allocations.diskGb,
  }
  const nanos = sql<number>`${allocations.gpuNanosPerHour} + ${allocations.cpuNanosPerHour} + ${allocations.diskNanosPerHour}`
  const saves = sql<number>`(SELECT ${SAVED_NANOS} FROM pods WHERE pods.id = ${allocations.id})`
  const [ofPods, ofWorkers] = await db.batch([
    db
      .select({ ...held, name: sql<string>`${pods.name}`.as('pod_name'), saves: saves.as('saves') })
      .from(allocations)
      .innerJoin(pods, eq(pods.id, allocations.id))
      .where(
        and(
          eq(allocations.teamId, teamId),
          eq(allocations.kind, 'pod'),
          sql`${pods.status} IN ('STARTING', 'RUNNING') AND ${pods.hostLost} = 0 AND ${pods.locked} = 0 AND ${pods.clusterId} IS NULL`,
        ),
      )
      .orderBy(sql`saves`, allocations.id)
      .limit(MAX_ROWS),
    db
      .select({
        ...held,
        endpointId: allocations.ownerId,
        name: sql<string>`${endpoints.name}`.as('endpoint_name'),
        saves: nanos.as('saves'),
      })
      .from(allocations)
      .innerJoin(endpoints, eq(endpoints.id, allocations.ownerId))
      .where(and(eq(allocations.teamId, teamId), eq(allocations.kind, 'worker')))
      .limit(MAX_ROWS),
  ])
  return {
    pods: ofPods.map((row) => ({ ...holderOf(row, 'POD'), diskGb: 0 })),
    workers: ofWorkers.map((row) => ({ ...holderOf(row, 'WORKER'), endpointId: row.endpointId })),
  }
}

interface Row extends Pick<Holder, 'id' | 'name' | 'hostId' | 'vcpus' | 'memoryMb' | 'diskGb'> {
  gpuTypeId: string | null
  gpuCount: number
  saves: number
}

function holderOf({ id, name, hostId, gpuTypeId, gpuCount, vcpus, memoryMb, diskGb, saves }: Row, kind: Holder['kind']): Holder {
  const gpu = gpuTypeId === null ? null : { typeId: gpuTypeId, count: gpuCount }
  return { kind, id, name, hostId, gpu, vcpus, memoryMb, diskGb, savesNanosPerHour: saves, leavesInMs: null }
}

/** The endpoint of a team's worker with an allocation, by the worker's id; undefined for any other id. */
export async function findWorkerEndpoint(db: Database, teamId: string, workerId: string): Promise<string | undefined> {
  const isIt = and(eq(allocations.id, workerId), eq(allocations.teamId, teamId), eq(allocations.kind, 'worker'))
  return (await db.select({ endpointId: allocations.ownerId }).from(allocations).where(isIt).get())?.endpointId
}
