import { and, eq, isNotNull, lt, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../client.ts'
import { allocations, networkVolumes, pods, usage } from '../schema.ts'
import { selectOf } from '../select-of.ts'
import { microsOf } from './amounts.ts'

// Statements that end charges in place, without reading them, in the batch that ends them and before the statement that deletes or changes
// the row. Ending a charge twice finds nothing the second time.

const NONE = sql`NULL`
const ZERO = sql`0`
/** The columns of an interval in which a disk alone is charged. */
const DISK_ALONE = {
  gpuTypeId: NONE,
  gpuCount: ZERO,
  vcpus: ZERO,
  gpuNanosPerHour: ZERO,
  cpuNanosPerHour: ZERO,
  gpuMicros: ZERO,
  cpuMicros: ZERO,
}

/** Begins a worker's charge when its container runs (BIL-10). A worker is charged only once, whatever its host reports later. */
export async function beginWorkerCharge(db: Database, id: string, hostId: string, { atMs, nowMs }: { atMs: number; nowMs: number }) {
  const isNew = sql`NOT EXISTS (SELECT 1 FROM usage WHERE workload_id = ${id})`
  // A host's clock may be wrong.
  const chargedFromMs = sql`MAX(${allocations.createdAt}, ${Math.floor(Math.min(atMs, nowMs))})`
  await db
    .update(allocations)
    .set({ chargedFromMs })
    .where(and(workerOn(id, hostId), sql`${allocations.chargedFromMs} IS NULL`, isNew))
}

/** Ends a worker's charge when its container has ended (BIL-10). */
export async function endWorkerCharge(db: Database, id: string, hostId: string, endedAtMs: number): Promise<void> {
  const isIt = workerOn(id, hostId)
  await db.batch([insertOfWorkers(db, isIt, endedAtMs), db.update(allocations).set({ chargedFromMs: null }).where(isIt)])
}

/** The statement that ends a worker's charge, for the batch that releases its capacity. */
export function closeWorkerCharge(db: Database, id: string, hostId: string, endedAtMs: number) {
  return insertOfWorkers(db, workerOn(id, hostId), endedAtMs)
}

/** Ends the charges of the workers of a lost host, whose state is unknown (BIL-18). */
export async function endWorkerChargesOn(db: Database, hostId: string, lastHeardMs: number): Promise<void> {
  const areThose = and(eq(allocations.hostId, hostId), eq(allocations.kind, 'worker'))
  await db.batch([insertOfWorkers(db, areThose, lastHeardMs), db.update(allocations).set({ chargedFromMs: null }).where(areThose)])
}

/** Excludes an ended silence of the host from the charges of its workers (BIL-18), as `decideHeardAgain` does for pods. Idempotent. */
export async function excuseWorkersOn(db: Database, hostId: string, { fromMs, toMs }: { fromMs: number; toMs: number }): Promise<void> {
  const on = and(eq(allocations.hostId, hostId), eq(allocations.kind, 'worker'))
  await db.batch([
    insertOfWorkers(db, and(on, lt(allocations.chargedFromMs, fromMs)), fromMs),
    db
      .update(allocations)
      .set({ chargedFromMs: toMs })
      .where(and(on, lt(allocations.chargedFromMs, toMs))),
  ])
}

function workerOn(id: string, hostId: string) {
  return and(eq(allocations.id, id), eq(allocations.hostId, hostId), eq(allocations.kind, 'worker'))
}

// The sequence number of an interval is its start: those of one worker follow one another.
function insertOfWorkers(db: Database, which: SQL | undefined, endedAtMs: number) {
  const from = sql`${allocations.chargedFromMs}`
  const end = sql`MAX(${from}, CAST(${Math.floor(endedAtMs)} AS INTEGER))`
  const ms = sql`(${end} - ${from})`
  const [gpu, cpu, disk] = [sql`${allocations.gpuNanosPerHour}`, sql`${allocations.cpuNanosPerHour}`, sql`${allocations.diskNanosPerHour}`]
  const interval = {
    workloadId: sql`id`,
    sequence: from,
    kind: sql`'SERVERLESS'`,
    resourceId: sql`owner_id`,
    teamId: sql`team_id`,
    startedAtMs: from,
    endedAtMs: end,
    cloud: NONE,
    gpuTypeId: sql`gpu_type_id`,
    gpuCount: sql`gpu_count`,
    vcpus: sql`vcpu`,
    diskGb: sql`disk_gb`,
    volumeType: NONE,
    gpuNanosPerHour: gpu,
    cpuNanosPerHour: cpu,
    diskNanosPerHour: disk,
    gpuMicros: microsOf(gpu, ms),
    cpuMicros: microsOf(cpu, ms),
    diskMicros: microsOf(disk, ms),
  }
  return db.insert(usage).select(selectOf(usage, interval, sql`FROM allocations WHERE ${and(which, isNotNull(allocations.chargedFromMs))}`))
}

/** The statement that ends charges of network volumes, for the batch that resizes or deletes them (BIL-11). */
export function closeVolumeCharges(db: Database, which: SQL | undefined, endedAtMs: number) {
  const from = sql`${networkVolumes.chargedFromMs}`
  const end = sql`MAX(${from}, CAST(${endedAtMs} AS INTEGER))`
  const nanos = sql`${networkVolumes.nanosPerHour}`
  const interval = {
    workloadId: sql`id`,
    sequence: sql`charge_sequence`,
    kind: sql`'NETWORK_VOLUME'`,
    resourceId: sql`id`,
    teamId: sql`team_id`,
    startedAtMs: from,
    endedAtMs: end,
    cloud: NONE,
    ...DISK_ALONE,
    diskGb: sql`size_gb`,
    volumeType: sql`type`,
    diskNanosPerHour: nanos,
    diskMicros: microsOf(nanos, sql`(${end} - ${from})`),
  }
  return db
    .insert(usage)
    .select(selectOf(usage, interval, sql`FROM network_volumes WHERE ${and(which, isNotNull(networkVolumes.chargedFromMs))}`))
}

/** Ends the charges of a removed host's disks of stopped pods (BIL-18). Idempotent. */
export async function endDiskChargesOn(db: Database, hostId: string, endedAtMs: number): Promise<void> {
  const areThose = and(eq(pods.hostId, hostId), sql`${pods.status} <> 'TERMINATED'`, isNotNull(pods.diskChargedFromMs))
  const from = sql`${pods.diskChargedFromMs}`
  const end = sql`MAX(${from}, CAST(${Math.floor(endedAtMs)} AS INTEGER))`
  const nanos = sql`${pods.stoppedDiskNanosPerHour}`
  const sizeGb = sql`COALESCE(json_extract(${pods.spec}, '$.mounts.persistent.sizeGb'), 0)`
  const interval = {
    workloadId: sql`id`,
    sequence: sql`version + 1`,
    kind: sql`iif(cluster_id IS NULL, 'POD', 'CLUSTER')`,
    resourceId: sql`COALESCE(cluster_id, id)`,
    teamId: sql`team_id`,
    startedAtMs: from,
    endedAtMs: end,
    cloud: sql`json_extract(${pods.spec}, '$.cloud')`,
    ...DISK_ALONE,
    diskGb: sizeGb,
    volumeType: NONE,
    diskNanosPerHour: nanos,
    diskMicros: microsOf(nanos, sql`(${end} - ${from})`),
  }
  await db.batch([
    db.insert(usage).select(selectOf(usage, interval, sql`FROM pods WHERE ${areThose}`)),
    db
      .update(pods)
      .set({ diskChargedFromMs: null, version: sql`${pods.version} + 1` })
      .where(areThose),
  ])
}
