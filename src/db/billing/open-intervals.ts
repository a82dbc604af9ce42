import { and, eq, isNotNull, or, type SQL, sql } from 'drizzle-orm'
import type { ChargedInterval } from '../../domain/billing/bill.ts'
import { NO_RATES } from '../../domain/money.ts'
import { runningRates, stoppedRates } from '../../domain/pod/rates.ts'
import type { PodSpec } from '../../domain/pod/record.ts'
import type { Database } from '../client.ts'
import { allocations, networkVolumes, pods } from '../schema.ts'
import { pagesOf } from './charged-things.ts'
import { selectMoment, selectSince } from './usage.ts'

// Verbatim as in the partial index.
const IS_LIVE = sql`${pods.status} <> 'TERMINATED'`

/** Rows of a kind that one batch reads: a few milliseconds. */
const FEW = 250

/** Rows of the pods, workers and volumes that a team is being charged for. */
export type OpenRows = readonly [
  Awaited<ReturnType<typeof selectOpenPods>>,
  Awaited<ReturnType<typeof selectOpenWorkers>>,
  Awaited<ReturnType<typeof selectOpenVolumes>>,
]

/**
 * The open intervals of a team, and the moment up to which closed ones must be read with them: an interval that ends meanwhile is neither
 * missed nor counted twice. Few are read in one batch, more a page at a time (BIL-41).
 */
export async function readOpen(db: Database, teamId: string): Promise<{ open: ChargedInterval[]; moment: number; removedUntilMs: number }> {
  const [[begun], ...rows] = await db.batch([selectMoment(db), ...selectFewOpen(db, teamId)])
  const { lastRow = 0, ...removed } = begun ?? { removedUntilMs: 0 }
  const all = allOpen(rows)
  if (all) return { open: all, moment: lastRow, ...removed }
  const open: ChargedInterval[] = []
  for await (const only of pagesOf(db, 'pods', teamId)) open.push(...toOpenIntervals([await selectOpenPods(db, teamId, only), [], []]))
  for await (const only of pagesOf(db, 'workers', teamId))
    open.push(...toOpenIntervals([[], await selectOpenWorkers(db, teamId, only), []]))
  for await (const only of pagesOf(db, 'volumes', teamId))
    open.push(...toOpenIntervals([[], [], await selectOpenVolumes(db, teamId, only)]))
  const [moments, ended] = await db.batch([selectMoment(db), selectSince(db, teamId, lastRow)])
  return { open: withoutEnded(open, ended), moment: moments[0]?.lastRow ?? lastRow, ...removed }
}

/** Statements for one batch that read everything a team is charged for, if it is few rows. */
export function selectFewOpen(db: Database, teamId: string) {
  const few = FEW + 1
  return [
    selectOpenPods(db, teamId).limit(few),
    selectOpenWorkers(db, teamId).limit(few),
    selectOpenVolumes(db, teamId).limit(few),
  ] as const
}

/** The intervals found by the statements of `selectFewOpen`; null when there are more rows than these read. */
export function allOpen(rows: OpenRows): ChargedInterval[] | null {
  return rows.every(({ length }) => length <= FEW) ? toOpenIntervals(rows) : null
}

/** Intervals that were read as open, without those that have ended since. */
export function withoutEnded(open: readonly ChargedInterval[], ended: readonly Pick<ChargedInterval, 'workloadId' | 'startedAtMs'>[]) {
  const keyOf = ({ workloadId, startedAtMs }: Pick<ChargedInterval, 'workloadId' | 'startedAtMs'>) => `${workloadId} ${startedAtMs}`
  const hasEnded = new Set(ended.map(keyOf))
  return open.filter((one) => !hasEnded.has(keyOf(one)))
}

/** The open intervals of these rows; the sum of their hourly costs is the team's present rate of spending. */
export function toOpenIntervals([openPods, workers, volumes]: OpenRows): ChargedInterval[] {
  return [...openPods.map(ofPod), ...workers.map(ofWorker), ...volumes.map(ofVolume)].filter(({ startedAtMs }) => startedAtMs > 0)
}

/** Whether a pod is one of a team. Beside a condition on its id, the index on the team would read all of its pods for each few. */
export function isPodOf(teamId: string, byId: boolean): SQL {
  return byId ? sql`+${pods.teamId} = ${teamId}` : eq(pods.teamId, teamId)
}

/** `only`: a further condition on the pods; `byId`: whether it names them by their ids. */
export function selectOpenPods(db: Database, teamId: string, only?: SQL, byId = only !== undefined) {
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
    .where(and(isPodOf(teamId, byId), IS_LIVE, or(isNotNull(pods.chargedFromMs), isNotNull(pods.diskChargedFromMs)), only))
}

/** `only`: a further condition on the workers. */
export function selectOpenWorkers(db: Database, teamId: string, only?: SQL) {
  return db
    .select()
    .from(allocations)
    .where(and(eq(allocations.teamId, teamId), eq(allocations.kind, 'worker'), isNotNull(allocations.chargedFromMs), only))
}

/** `only`: a further condition on the volumes. */
export function selectOpenVolumes(db: Database, teamId: string, only?: SQL) {
  return db
    .select()
    .from(networkVolumes)
    .where(and(eq(networkVolumes.teamId, teamId), isNotNull(networkVolumes.chargedFromMs), only))
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
