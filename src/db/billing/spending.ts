import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Charge, ChargedInterval } from '../../domain/billing/bill.ts'
import type { Bucket } from '../../domain/billing/buckets.ts'
import type { Spender } from '../../domain/billing/spending.ts'
import { USAGE_KINDS } from '../../domain/billing/usage.ts'
import type { Database } from '../client.ts'
import { isOneOf } from '../one-of.ts'
import { allocations, clusters, endpoints, networkVolumes, pods } from '../schema.ts'
import { pagesOf } from './charged-things.ts'
import { readDayTotals } from './day-sums.ts'
import { isPodOf, selectOpenPods, selectOpenVolumes, selectOpenWorkers, toOpenIntervals, withoutEnded } from './open-intervals.ts'
import { IS_POD_TO_RUN, POD_NANOS } from './spend.ts'
import { selectMoment, selectSince } from './usage.ts'

// Verbatim as in the partial index.
const IS_LIVE = sql`${pods.status} <> 'TERMINATED'`

/** All resources that cost a team something at present, and its charges by bucket. */
export interface SpendingRows {
  spenders: Spender[]
  /** Totals of closed intervals, by kind and bucket. */
  totals: Charge[]
  /** Open intervals. */
  intervals: ChargedInterval[]
  /** Number of the last usage row included; later ones are not in the totals. */
  moment: number
}

/** Resources that have lists of their own. */
export type ListedKind = 'POD' | 'CLUSTER' | 'ENDPOINT'

/**
 * Reads a team's spending, one page of resources at a time. An interval that ends meanwhile counts as closed: it is neither missed nor
 * counted twice (SPD-1). `buckets`: whole days.
 */
export async function readSpending(db: Database, teamId: string, buckets: readonly Bucket[]): Promise<SpendingRows> {
  const [begun] = await selectMoment(db)
  const [spenders, open] = [[] as Spender[], [] as ChargedInterval[]]
  const add = (page: Pick<SpendingRows, 'spenders' | 'intervals'>) => {
    spenders.push(...page.spenders)
    open.push(...page.intervals)
  }
  for await (const only of pagesOf(db, 'pods', teamId)) add(await readPods(db, teamId, only))
  for await (const only of pagesOf(db, 'workers', teamId)) add(await readWorkers(db, teamId, only))
  for await (const only of pagesOf(db, 'volumes', teamId)) add(await readVolumes(db, teamId, only))
  const [moments, ended] = await db.batch([selectMoment(db), selectSince(db, teamId, begun?.lastRow ?? 0)])
  const moment = moments[0]?.lastRow ?? 0
  const totals = await readDayTotals(db, { teamId, kinds: USAGE_KINDS, buckets }, moment)
  return { spenders, totals, intervals: withoutEnded(open, ended), moment }
}

/** Present costs of some resources of a team: two statements in one batch, whatever their number (SPD-9). */
export async function readSpendersOf(
  db: Database,
  teamId: string,
  kind: ListedKind,
  ids: readonly string[],
): Promise<Pick<SpendingRows, 'spenders' | 'intervals'>> {
  const column = { POD: pods.id, CLUSTER: pods.clusterId, ENDPOINT: allocations.ownerId }[kind]
  const only = isOneOf(column, ids)
  return kind === 'ENDPOINT' ? readWorkers(db, teamId, only) : readPods(db, teamId, only, kind === 'POD')
}

async function readPods(db: Database, teamId: string, only: SQL, byId = true) {
  const [found, open] = await db.batch([selectPods(db, teamId, only, byId), selectOpenPods(db, teamId, only, byId)])
  return { spenders: found.map(ofPod), intervals: toOpenIntervals([open, [], []]) }
}

async function readWorkers(db: Database, teamId: string, only: SQL) {
  const [found, open] = await db.batch([selectWorkers(db, teamId, only), selectOpenWorkers(db, teamId, only)])
  return { spenders: found.map(ofWorker), intervals: toOpenIntervals([[], open, []]) }
}

async function readVolumes(db: Database, teamId: string, only: SQL) {
  const [found, open] = await db.batch([selectVolumes(db, teamId, only), selectOpenVolumes(db, teamId, only)])
  return { spenders: found.map(ofVolume), intervals: toOpenIntervals([[], [], open]) }
}

/** Charges of a workload since a time, in closed intervals. */
function closedMicros(id: SQL, sinceMs: SQL): SQL<number> {
  return sql<number>`COALESCE((SELECT SUM(u.gpu_micros + u.cpu_micros + u.disk_micros)
    FROM usage u WHERE u.workload_id = ${id} AND u.started_at >= ${sinceMs}), 0)`
}

function selectPods(db: Database, teamId: string, only: SQL, byId: boolean) {
  return db
    .select({
      id: pods.id,
      name: pods.name,
      clusterId: pods.clusterId,
      // Rows of a batch are objects: two columns of the same name would collide.
      clusterName: sql<string | null>`${clusters.name}`.as('cluster_name'),
      isToRun: sql<number>`${IS_POD_TO_RUN}`.as('is_to_run'),
      startedAtMs: pods.startedAtMs,
      // BIL-30: a pod on a lost host costs nothing, although the limits count it.
      nanosPerHour: sql<number>`CASE WHEN ${pods.hostLost} THEN 0 ELSE ${POD_NANOS} END`.as('nanos'),
      stoppedNanosPerHour: sql<number>`CASE WHEN ${pods.hostLost} THEN 0 ELSE ${pods.stoppedDiskNanosPerHour} END`.as('stopped'),
      closedMicros: closedMicros(sql`${pods.id}`, sql`${pods.startedAtMs}`).as('closed'),
    })
    .from(pods)
    .leftJoin(clusters, eq(clusters.id, pods.clusterId))
    .where(and(isPodOf(teamId, byId), IS_LIVE, only))
    .orderBy(pods.id)
}

function selectWorkers(db: Database, teamId: string, only?: SQL) {
  const { gpuNanosPerHour, cpuNanosPerHour, diskNanosPerHour } = allocations
  return db
    .select({
      id: allocations.id,
      endpointId: allocations.ownerId,
      endpointName: sql<string | null>`${endpoints.name}`.as('endpoint_name'),
      startedAtMs: allocations.chargedFromMs,
      nanosPerHour: sql<number>`${gpuNanosPerHour} + ${cpuNanosPerHour} + ${diskNanosPerHour}`.as('nanos'),
      closedMicros: closedMicros(sql`${allocations.id}`, sql`0`).as('closed'),
    })
    .from(allocations)
    .leftJoin(endpoints, eq(endpoints.id, allocations.ownerId))
    .where(and(eq(allocations.teamId, teamId), eq(allocations.kind, 'worker'), only))
    .orderBy(allocations.id)
}

function selectVolumes(db: Database, teamId: string, only: SQL) {
  return db
    .select({
      id: networkVolumes.id,
      name: networkVolumes.name,
      createdAtMs: networkVolumes.createdAt,
      nanosPerHour: networkVolumes.nanosPerHour,
      closedMicros: closedMicros(sql`${networkVolumes.id}`, sql`0`).as('closed'),
    })
    .from(networkVolumes)
    .where(and(eq(networkVolumes.teamId, teamId), only))
    .orderBy(networkVolumes.id)
}

type Rows<Select extends (db: Database, teamId: string, only: SQL, byId: boolean) => PromiseLike<readonly unknown[]>> = Awaited<
  ReturnType<Select>
>[number]

function ofPod(row: Rows<typeof selectPods>): Spender {
  const { id, name, clusterId, clusterName, nanosPerHour, stoppedNanosPerHour } = row
  const isRunning = Boolean(row.isToRun)
  return {
    ...(clusterId === null ? { kind: 'POD', id, name } : { kind: 'CLUSTER', id: clusterId, name: clusterName ?? clusterId }),
    workloadId: id,
    isRunning,
    startedAtMs: isRunning ? row.startedAtMs : null,
    nanosPerHour,
    stoppedNanosPerHour,
    closedMicros: isRunning && row.startedAtMs !== null ? row.closedMicros : 0,
  }
}

function ofWorker({ id, endpointId, endpointName, startedAtMs, nanosPerHour, closedMicros: closed }: Rows<typeof selectWorkers>): Spender {
  const of = { kind: 'ENDPOINT' as const, id: endpointId, name: endpointName ?? endpointId }
  return { ...of, workloadId: id, isRunning: true, startedAtMs, nanosPerHour, stoppedNanosPerHour: 0, closedMicros: closed }
}

function ofVolume({ id, name, createdAtMs, nanosPerHour, closedMicros: closed }: Rows<typeof selectVolumes>): Spender {
  const of = { kind: 'NETWORK_VOLUME' as const, id, name, workloadId: id }
  return { ...of, isRunning: true, startedAtMs: createdAtMs, nanosPerHour, stoppedNanosPerHour: nanosPerHour, closedMicros: closed }
}
