import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Rates } from '../../domain/money.ts'
import type { HeldCapacity } from '../../domain/preemption/plan-preemption.ts'
import type { Inventory } from '../../host-protocol/messages.ts'
import { withinBudget } from '../accounts/budgets.ts'
import { isActive } from '../accounts/suspension.ts'
import { closeWorkerCharge } from '../billing/charges.ts'
import { NO_DEMAND, type SpendDemand, withinSpend } from '../billing/spend.ts'
import type { Database } from '../client.ts'
import { outcomeOf, required } from '../refusals.ts'
import { noteMount } from '../resources/volume-hosts.ts'
import { selectOf } from '../select-of.ts'
import { allocations, hostGpus, hosts } from '../tables/hosts/hosts.ts'
import { pods } from '../tables/workloads/pods.ts'
import { takesAccount } from './tenancy.ts'

/** Capacity that a workload reserves on a host. The id is the workload's own, so a repeated reservation finds the first. */
export interface Reservation extends HeldCapacity {
  /** Hourly rates that a worker is charged. */
  rates: Rates
  /** Hourly cost, for the spend limits. */
  spend?: SpendDemand
  /** The network volume that it mounts. */
  volumeId?: string | undefined
}

/** Capacity of a host that a workload holds. */
export interface Allocation {
  id: string
  hostId: string
  dataCenterId: string
  gpuTypeId: string | null
  vcpus: number
}

/** The allocation of a workload; null when it has none. */
export async function findAllocation(db: Database, id: string): Promise<Allocation | null> {
  const rows = await db
    .select({
      id: allocations.id,
      hostId: allocations.hostId,
      gpuTypeId: allocations.gpuTypeId,
      vcpus: allocations.vcpu,
      dataCenterId: hosts.dataCenterId,
    })
    .from(allocations)
    .innerJoin(hosts, eq(hosts.id, allocations.hostId))
    .where(eq(allocations.id, id))
  return rows[0] ?? null
}

/**
 * Refusals of `reserveCapacity`: the host lacks capacity; it is offline, cordoned or kept for other accounts; the account is suspended or deleted; its
 * GPU budget (BUDGET-1) or its spend limit (BIL-22) is exceeded.
 */
const REFUSALS = ['capacity', 'host', 'inactive', 'gpus', 'spend'] as const
export type ReservationRefusal = (typeof REFUSALS)[number]

/**
 * Reserves capacity in one batch that fails as a whole: 'done', or why nothing was reserved. A second reservation under the same id is a
 * caller's error: check for the allocation first.
 */
export async function reserveCapacity(db: Database, need: Reservation, nowMs: number): Promise<'done' | ReservationRefusal> {
  const conditions: Record<Exclude<ReservationRefusal, 'capacity'>, SQL> = {
    host: sql`EXISTS (SELECT 1 FROM hosts WHERE id = ${need.hostId} AND status = 'ONLINE' AND cordoned_at IS NULL
      AND ${takesAccount(need.hostId, need.teamId)})`,
    inactive: isActive(need.teamId),
    gpus: withinBudget(need.teamId, 'gpus', need.gpu?.count ?? 0),
    spend: withinSpend(need.teamId, need.spend ?? NO_DEMAND),
  }
  const { rates, gpu, vcpus, ...same } = need
  const values = {
    ...same,
    ...rates,
    gpuTypeId: gpu?.typeId ?? null,
    gpuCount: gpu?.count ?? 0,
    vcpu: vcpus,
    createdAt: nowMs,
    chargedFromMs: sql`NULL`,
  }
  const insert = db.insert(allocations).select(selectOf(allocations, values, sql`WHERE ${required(conditions)}`))
  const mount = need.volumeId === undefined ? [] : [noteMount(db, { ...need, volumeId: need.volumeId }, nowMs)]
  return outcomeOf(db.batch([insert, ...recomputeFree(db, need.hostId, (left) => left), ...mount]), REFUSALS)
}

/** Releases a workload's capacity; the charge of a worker ends at `endedAtMs`. Idempotent. */
export async function releaseCapacity(db: Database, id: string, hostId: string, endedAtMs: number): Promise<void> {
  await db.batch([
    closeWorkerCharge(db, id, hostId, endedAtMs),
    db.delete(allocations).where(and(eq(allocations.id, id), eq(allocations.hostId, hostId))),
    ...recomputeFree(db, hostId, notBelowZero),
  ])
}

/** Stores the inventory that a host reports. Existing allocations are kept; a host that shrank below them has no free capacity. */
export async function saveInventory(db: Database, hostId: string, inventory: Inventory, nowMs: number): Promise<void> {
  const gpus = mergeGpus(inventory)
  await db.batch([
    db
      .update(hosts)
      .set({
        inventory,
        vcpuTotal: inventory.vcpus,
        memoryMbTotal: inventory.memoryMb,
        diskGbTotal: inventory.diskGb,
        publicIp: inventory.publicIp ?? null,
        lastSeenAt: nowMs,
      })
      .where(eq(hosts.id, hostId)),
    db.delete(hostGpus).where(eq(hostGpus.hostId, hostId)),
    ...gpus.map((gpu) =>
      db.insert(hostGpus).values({ hostId, gpuTypeId: gpu.typeId, cudaVersion: gpu.cudaVersion, total: gpu.count, free: 0 }),
    ),
    ...recomputeFree(db, hostId, notBelowZero),
    updatePods(db, hostId, inventory.publicIp ?? null),
  ])
}

/** Updates the fields that pods copy from their host: its public address and the CUDA version that it reports. */
function updatePods(db: Database, hostId: string, publicIp: string | null) {
  const reported = sql`(SELECT g.cuda_version FROM host_gpus g WHERE g.host_id = ${pods.hostId} AND g.gpu_type_id = json_extract(${pods.spec}, '$.compute.typeId'))`
  const cudaVersion = sql`COALESCE(${reported}, ${pods.cudaVersion})`
  const isOutdated = sql`(${pods.publicIp} IS NOT ${publicIp} OR ${pods.cudaVersion} IS NOT ${cudaVersion})`
  return db
    .update(pods)
    .set({ publicIp, cudaVersion, version: sql`${pods.version} + 1` })
    .where(and(eq(pods.hostId, hostId), sql`${pods.status} <> 'TERMINATED'`, isOutdated))
}

// One row per type: real and simulated GPUs of one type on one host are counted together.
function mergeGpus(inventory: Inventory): { typeId: string; count: number; cudaVersion: string | null }[] {
  const merged = new Map<string, { typeId: string; count: number; cudaVersion: string | null }>()
  for (const gpu of inventory.gpus) {
    const known = merged.get(gpu.typeId)
    merged.set(gpu.typeId, {
      typeId: gpu.typeId,
      count: gpu.count + (known?.count ?? 0),
      cudaVersion: gpu.cudaVersion ?? known?.cudaVersion ?? null,
    })
  }
  return [...merged.values()]
}

type Bound = (left: SQL) => SQL

// A host that shrank below its allocations has no free capacity; only a reservation must violate the CHECK.
function notBelowZero(left: SQL): SQL {
  return sql`MAX(0, ${left})`
}

/**
 * Statements that write a host's free capacity, for the batch that changes its allocations. With `strict`, insufficient capacity fails the
 * batch.
 */
export function recomputeHost(db: Database, hostId: string, mode: 'strict' | 'lenient') {
  return recomputeFree(db, hostId, mode === 'strict' ? (left) => left : notBelowZero)
}

/**
 * Statements that write the free capacity of several hosts, given as an SQL value in parentheses; insufficient capacity on any of them
 * fails the batch.
 */
export function recomputeHosts(db: Database, hostIds: SQL) {
  const used = (column: SQL) => sql`(SELECT COALESCE(SUM(${column}), 0) FROM allocations WHERE host_id = hosts.id)`
  const usedGpus = sql`(SELECT COALESCE(SUM(gpu_count), 0) FROM allocations a WHERE a.host_id = host_gpus.host_id AND a.gpu_type_id = host_gpus.gpu_type_id)`
  return [
    db
      .update(hosts)
      .set({
        vcpuFree: sql`vcpu_total - ${used(sql`vcpu`)}`,
        memoryMbFree: sql`memory_mb_total - ${used(sql`memory_mb`)}`,
        diskGbFree: sql`disk_gb_total - ${used(sql`disk_gb`)}`,
      })
      .where(sql`id IN ${hostIds}`),
    db
      .update(hostGpus)
      .set({ free: sql`total - ${usedGpus}` })
      .where(sql`host_id IN ${hostIds}`),
  ] as const
}

function recomputeFree(db: Database, hostId: string, bound: Bound) {
  const used = (column: SQL) => sql`(SELECT COALESCE(SUM(${column}), 0) FROM allocations WHERE host_id = ${hostId})`
  const usedGpus = sql`(SELECT COALESCE(SUM(gpu_count), 0) FROM allocations a WHERE a.host_id = ${hostId} AND a.gpu_type_id = host_gpus.gpu_type_id)`
  return [
    db
      .update(hosts)
      .set({
        vcpuFree: bound(sql`vcpu_total - ${used(sql`vcpu`)}`),
        memoryMbFree: bound(sql`memory_mb_total - ${used(sql`memory_mb`)}`),
        diskGbFree: bound(sql`disk_gb_total - ${used(sql`disk_gb`)}`),
      })
      .where(eq(hosts.id, hostId)),
    db
      .update(hostGpus)
      .set({ free: bound(sql`total - ${usedGpus}`) })
      .where(eq(hostGpus.hostId, hostId)),
  ] as const
}
