import { and, eq, isNotNull, or, type SQL, sql } from 'drizzle-orm'
import type { ChargedInterval } from '../../domain/billing/bill.ts'
import { NO_RATES } from '../../domain/billing/money.ts'
import { runningRates, stoppedRates } from '../../domain/billing/pod-rates.ts'
import type { PodSpec } from '../../domain/pod/record.ts'
import type { Database } from '../client.ts'
import { allocations, networkVolumes, pods } from '../schema.ts'

// As the partial index has it, word for word.
const IS_LIVE = sql`${pods.status} <> 'TERMINATED'`

/** Whatever a team is being charged for at the moment: what the statements of `selectOpen` have found. */
export type OpenRows = readonly [
  Awaited<ReturnType<typeof selectOpenPods>>,
  Awaited<ReturnType<typeof selectOpenWorkers>>,
  Awaited<ReturnType<typeof selectOpenVolumes>>,
]

/** The intervals of a team that have not ended: statements for one batch, with whatever has to be of the same moment. */
export function selectOpen(db: Database, teamId: string) {
  return [selectOpenPods(db, teamId), selectOpenWorkers(db, teamId), selectOpenVolumes(db, teamId)] as const
}

/** The intervals that such rows are; what they cost an hour together is what the team spends at the moment. */
export function toOpenIntervals([openPods, workers, volumes]: OpenRows): ChargedInterval[] {
  return [...openPods.map(ofPod), ...workers.map(ofWorker), ...volumes.map(ofVolume)].filter(({ startedAtMs }) => startedAtMs > 0)
}

/** `only`: of these alone. */
export function selectOpenPods(db: Database, teamId: string, only?: SQL) {
  return db
    .select({
      id: pods.id,
      clusterId: pods.clusterId,
      compute: sql<string>`json_extract(${pods.spec}, '$.compute')`,
      containerGb: sql<number>`json_extract(${pods.spec}, '$.container.diskGb')`,
      persistentGb: sql<number | null>`json_extract(${pods.spec}, '$.mounts.persistent.sizeGb')`,
      vcpus: pods.vcpus,
      pricePerHour: pods.pricePerHour,
      diskNanosPerHour: pods.diskNanosPerHour,
      stoppedDiskNanosPerHour: pods.stoppedDiskNanosPerHour,
      chargedFromMs: pods.chargedFromMs,
      diskChargedFromMs: pods.diskChargedFromMs,
    })
    .from(pods)
    .where(and(eq(pods.teamId, teamId), IS_LIVE, or(isNotNull(pods.chargedFromMs), isNotNull(pods.diskChargedFromMs)), only))
}

/** `only`: of these alone. */
export function selectOpenWorkers(db: Database, teamId: string, only?: SQL) {
  return db
    .select()
    .from(allocations)
    .where(and(eq(allocations.teamId, teamId), eq(allocations.kind, 'worker'), isNotNull(allocations.chargedFromMs), only))
}

function selectOpenVolumes(db: Database, teamId: string) {
  return db
    .select()
    .from(networkVolumes)
    .where(and(eq(networkVolumes.teamId, teamId), isNotNull(networkVolumes.chargedFromMs)))
}

function ofPod(row: OpenRows[0][number]): ChargedInterval {
  const compute = JSON.parse(row.compute) as PodSpec['compute']
  const gpu = compute.kind === 'gpu' ? compute : null
  const charged = { ...row, spec: { compute } }
  const kept = row.persistentGb ?? 0
  const what = {
    kind: row.clusterId === null ? ('POD' as const) : ('CLUSTER' as const),
    resourceId: row.clusterId ?? row.id,
    workloadId: row.id,
    endedAtMs: null,
    volumeType: null,
  }
  if (row.chargedFromMs === null) {
    const nothing = { gpuTypeId: null, gpuCount: 0, vcpus: 0 }
    return { ...what, startedAtMs: row.diskChargedFromMs ?? 0, ...nothing, diskGb: kept, ...stoppedRates(charged) }
  }
  const held = { gpuTypeId: gpu?.typeId ?? null, gpuCount: gpu?.count ?? 0, vcpus: row.vcpus, diskGb: row.containerGb + kept }
  return { ...what, startedAtMs: row.chargedFromMs, ...held, ...runningRates(charged) }
}

function ofWorker(row: OpenRows[1][number]): ChargedInterval {
  const { gpuTypeId, gpuCount, vcpu, diskGb, gpuNanosPerHour, cpuNanosPerHour, diskNanosPerHour } = row
  return {
    kind: 'SERVERLESS',
    resourceId: row.ownerId,
    workloadId: row.id,
    startedAtMs: row.chargedFromMs ?? 0,
    endedAtMs: null,
    gpuTypeId,
    gpuCount,
    vcpus: vcpu,
    diskGb,
    volumeType: null,
    gpuNanosPerHour,
    cpuNanosPerHour,
    diskNanosPerHour,
  }
}

function ofVolume({ id, chargedFromMs, sizeGb, type, nanosPerHour }: OpenRows[2][number]): ChargedInterval {
  return {
    kind: 'NETWORK_VOLUME',
    resourceId: id,
    workloadId: id,
    startedAtMs: chargedFromMs ?? 0,
    endedAtMs: null,
    gpuTypeId: null,
    gpuCount: 0,
    vcpus: 0,
    diskGb: sizeGb,
    volumeType: type,
    ...NO_RATES,
    diskNanosPerHour: nanosPerHour,
  }
}
