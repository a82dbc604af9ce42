import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Resources } from '../../domain/host/resources.ts'
import { podDiskGb } from '../../domain/pod/place/placement.ts'
import type { UsageInterval } from '../../domain/pod/pod.ts'
import { runningRates, stoppedRates } from '../../domain/pod/rates.ts'
import { specLeaving } from '../../domain/pod/terminated.ts'
import { isShared, specBytesOn, withinBudget } from '../accounts/budgets.ts'
import { isActive } from '../accounts/suspension.ts'
import { runNamed } from '../batch.ts'
import { NO_DEMAND, type SpendDemand, withinSpend } from '../billing/spend.ts'
import { insertClosed } from '../billing/usage.ts'
import type { Database, Records, Statement } from '../client.ts'
import { recomputeHost } from '../hosts/capacity.ts'
import { withinDiskShare } from '../hosts/disk-share.ts'
import { podAllocation } from '../hosts/pod-capacity.ts'
import { takesAccount } from '../hosts/tenancy.ts'
import { outcomeOf, refusalOf, required } from '../refusals.ts'
import { allocations, pods } from '../schema.ts'
import { type PodRow, sealPodSpec } from '../sealed-pod.ts'
import { selectOf } from '../select-of.ts'
import { REFERENCE_REFUSALS, type ReferenceRefusal } from './pod-references.ts'
import { dropOldestTerminated, retainedPod } from './terminated-pods.ts'

export type { PodRow }

/** Refusals of `insertPod` that concern its host; another host may take the pod. `host`: offline, cordoned, or kept for other accounts. */
const HOST_REFUSALS = ['capacity', 'host', 'diskShare', 'specBytesPerHost'] as const
/** Refusals of `insertPod` for any host: the state of the account, its budgets (BUDGET-1) and spend limit (BIL-22), references and name. */
const POD_REFUSALS = ['inactive', 'pods', 'gpus', 'spend', ...REFERENCE_REFUSALS, 'name'] as const
export type HostRefusal = (typeof HOST_REFUSALS)[number]
export type PodRefusal = (typeof POD_REFUSALS)[number]

/** Whether the refusal depends on the host, so that another host may accept the pod. */
export function isHostRefusal(refusal: HostRefusal | PodRefusal): refusal is HostRefusal {
  return HOST_REFUSALS.some((name) => name === refusal)
}

/** Reserves the capacity of a new pod and stores the pod, in one batch that fails as a whole: 'done', or why nothing was written. */
export async function insertPod(
  db: Records,
  pod: PodRow,
  resources: Resources,
  together: readonly Statement[] = [],
  spend: SpendDemand = NO_DEMAND,
): Promise<'done' | HostRefusal | PodRefusal> {
  const { gpu, diskGb } = resources
  const { teamId, hostId } = pod
  const conditions: Record<Exclude<HostRefusal | PodRefusal, 'capacity' | 'name' | ReferenceRefusal>, SQL> = {
    host: sql`EXISTS (SELECT 1 FROM hosts WHERE id = ${hostId} AND status = 'ONLINE' AND cordoned_at IS NULL AND ${takesAccount(hostId, teamId)})`,
    inactive: isActive(teamId),
    pods: withinBudget(teamId, 'pods', 1),
    gpus: withinBudget(teamId, 'gpus', gpu?.count ?? 0),
    specBytesPerHost: withinBudget(teamId, 'specBytesPerHost', specBytes(pod), specBytesOn(teamId, hostId)),
    diskShare: withinDiskShare(teamId, hostId, { id: pod.id, diskGb }),
    spend: withinSpend(teamId, spend),
  }
  const values = podAllocation(pod, resources)
  const allocate = db.insert(allocations).select(selectOf(allocations, values, sql`WHERE ${required(conditions)}`))
  const insert = db.insert(pods).values({ ...pod, spec: sealPodSpec(db.vault, pod, pod.spec) })
  const batch = db.batch([allocate, ...recomputeHost(db, pod.hostId, 'strict'), insert, ...together])
  return outcomeOf(batch, [...HOST_REFUSALS, ...POD_REFUSALS])
}

/** Size of a pod's spec in bytes, which counts against a budget. */
export function specBytes({ spec }: Pick<PodRow, 'spec'>): number {
  return new TextEncoder().encode(JSON.stringify(spec)).length
}

/**
 * Writes a transition if the pod still has the version on which it was decided; false otherwise. The batch includes a closed interval and
 * `note`, a statement that depends on whether the transition was written.
 */
export async function updatePod(
  db: Records,
  before: PodRow,
  after: PodRow,
  usage: UsageInterval | null,
  note: Statement | null = null,
): Promise<boolean> {
  const closed = usage && usageInsert(db, before, after, usage)
  const dropped = after.status === 'TERMINATED' ? dropOldestTerminated(db, after.teamId) : null
  const written = { updated: guarded(db, before, after), note, closed, dropped }
  return (await runNamed(db, written)).updated > 0
}

/**
 * Refusals of a change of what a pod holds on its own host. `host`: it was removed, or has no such GPU any more (POD-17); `capacity`: it has
 * too little left (MNT-4); the others: limits of the account (BUDGET-1, SHR-41, BIL-22).
 */
const PLACE_REFUSALS = ['capacity', 'host', 'inactive', 'gpus', 'diskShare', 'spend'] as const
export type PlaceRefusal = (typeof PLACE_REFUSALS)[number]

/** Writes a transition that takes compute of the pod's own host again (POD-17). 'lost': another transition came first. */
export async function updatePodTakingCompute(
  db: Records,
  before: PodRow,
  after: PodRow,
  { gpu, vcpus, memoryMb, diskGb }: Resources,
  note: Statement | null = null,
  spend: SpendDemand = NO_DEMAND,
): Promise<'done' | 'lost' | PlaceRefusal> {
  const all = { gpuTypeId: gpu?.typeId ?? null, gpuCount: gpu?.count ?? 0, vcpu: vcpus, memoryMb, diskGb }
  return updateWithAllocation(db, before, after, { usage: null, note, spend }, all)
}

/** Writes a change of the pod's disk on its own host (MNT-4). With `growsOnly` a larger allocation is kept. 'lost': as above. */
export async function updatePodResizing(
  db: Records,
  before: PodRow,
  after: PodRow,
  together: { usage: UsageInterval | null; note?: Statement | null; spend: SpendDemand },
  { diskGb, growsOnly }: { diskGb: number; growsOnly: boolean },
): Promise<'done' | 'lost' | PlaceRefusal> {
  return updateWithAllocation(db, before, after, together, { diskGb: growsOnly ? sql`MAX(disk_gb, ${diskGb})` : diskGb })
}

async function updateWithAllocation(
  db: Records,
  before: PodRow,
  after: PodRow,
  { usage, note = null, spend = NO_DEMAND }: { usage: UsageInterval | null; note?: Statement | null; spend?: SpendDemand },
  held: Omit<Partial<typeof allocations.$inferInsert>, 'diskGb'> & { diskGb: number | SQL },
): Promise<'done' | 'lost' | PlaceRefusal> {
  const { id, teamId, hostId } = before
  const isCurrent = sql`EXISTS (SELECT 1 FROM pods WHERE id = ${id} AND version = ${before.version})`
  const others = sql`(SELECT COALESCE(SUM(gpu_count), 0) FROM allocations WHERE ${isShared(teamId)} AND id <> ${id})`
  const may = required({
    inactive: isActive(teamId),
    ...(held.gpuCount && { gpus: withinBudget(teamId, 'gpus', Number(held.gpuCount), others) }),
    // A smaller amount is always allowed.
    ...(held.vcpu === undefined && {
      diskShare: sql`${held.diskGb} <= allocations.disk_gb OR ${withinDiskShare(teamId, hostId, { id, diskGb: held.diskGb })}`,
    }),
    spend: withinSpend(teamId, spend),
  } satisfies { [Name in PlaceRefusal]?: SQL })
  // CASE orders the conditions: a change that is out of date is not refused.
  const allocate = db
    .update(allocations)
    .set(held)
    .where(and(eq(allocations.id, id), sql`CASE WHEN ${isCurrent} THEN ${may} ELSE FALSE END`))
  const [left, leftGpus] = recomputeHost(db, hostId, 'strict')
  // For a GPU type that the host does not have any more there is no row, hence no CHECK.
  const hasGpus = held.gpuTypeId
    ? sql` AND EXISTS (SELECT 1 FROM host_gpus WHERE host_id = ${hostId} AND gpu_type_id = ${held.gpuTypeId})`
    : sql``
  const hasPlace = sql`EXISTS (SELECT 1 FROM allocations a JOIN hosts h ON h.id = a.host_id WHERE a.id = ${id} AND h.status <> 'REMOVED')${hasGpus}`
  const updated = guarded(db, before, after, { requirement: required({ host: hasPlace } satisfies { [Name in PlaceRefusal]?: SQL }) })
  const closed = usage && usageInsert(db, before, after, usage)
  const batch = runNamed(db, { allocate, left, leftGpus, updated, note, closed })
  const outcome = await outcomeOf(batch, PLACE_REFUSALS)
  return outcome === 'done' && (await batch).updated === 0 ? 'lost' : outcome
}

/** Parts of a pod's move to another host. */
export interface PodMove {
  resources: Resources
  usage: UsageInterval | null
  note?: Statement | null
  previousAllocationId: string
}

/**
 * Moves a pod to another host if it still has the version on which this was decided. Its previous allocation is kept under another id until
 * that host reports the container gone; until then the pod cannot return there. False when another transition came first, or the new host
 * lacks capacity.
 */
export async function movePod(
  db: Records,
  before: PodRow,
  after: PodRow,
  { resources, usage, note = null, previousAllocationId }: PodMove,
): Promise<boolean> {
  const canMove = sql`EXISTS (SELECT 1 FROM pods WHERE id = ${before.id} AND version = ${before.version})
    AND EXISTS (SELECT 1 FROM hosts WHERE id = ${after.hostId} AND status = 'ONLINE' AND cordoned_at IS NULL
      AND ${takesAccount(after.hostId, after.teamId)})
    AND NOT EXISTS (SELECT 1 FROM allocations WHERE owner_id = ${before.id} AND host_id = ${after.hostId})`
  const leave = db
    .update(allocations)
    .set({ id: previousAllocationId })
    .where(and(eq(allocations.id, before.id), canMove))
  const values = podAllocation({ ...after, createdAtMs: after.changedAtMs }, resources)
  const enter = db.insert(allocations).select(selectOf(allocations, values, sql`WHERE ${canMove}`))
  const moved = { ...after, spec: specLeaving(after.spec, before.hostId) }
  const hasEntered = sql`EXISTS (SELECT 1 FROM allocations WHERE id = ${after.id} AND host_id = ${after.hostId})`
  const [left, leftGpus] = recomputeHost(db, after.hostId, 'strict')
  const closed = usage && usageInsert(db, before, after, usage)
  try {
    const written = { leave, enter, left, leftGpus, updated: guarded(db, before, moved, { condition: hasEntered }), note, closed }
    return (await runNamed(db, written)).updated > 0
  } catch (error) {
    if (refusalOf(error) === 'capacity') return false
    throw error
  }
}

/**
 * Releases a stopped pod's compute and keeps its disk (POD-14), if the pod is still stopped: for a host that reports all its containers
 * down. `generation` is the pod's current one. Idempotent.
 */
export async function releaseCompute(db: Database, podId: string, hostId: string, generation: number): Promise<void> {
  const isStopped = sql`EXISTS (SELECT 1 FROM pods WHERE id = ${podId} AND generation = ${generation} AND host_lost = 0 AND status IN ('EXITED', 'ERROR'))`
  await db.batch([
    db
      .update(allocations)
      .set({ gpuCount: 0, vcpu: 0, memoryMb: 0 })
      .where(and(eq(allocations.id, podId), eq(allocations.hostId, hostId), isStopped)),
    ...recomputeHost(db, hostId, 'lenient'),
  ])
}

/** `condition`: without it nothing is written; `requirement`: without it the batch is refused. */
function guarded(db: Records, before: PodRow, pod: PodRow, { condition, requirement }: { condition?: SQL; requirement?: SQL } = {}) {
  const { id: _id, ...after } = retainedPod(pod)
  const name = requirement ? sql`CASE WHEN ${requirement} THEN ${after.name} END` : after.name
  return db
    .update(pods)
    .set({ ...after, name, spec: sealPodSpec(db.vault, before, after.spec) })
    .where(and(eq(pods.id, before.id), eq(pods.version, before.version), hasRegistry(before, after), condition))
}

// A credential that a change newly names may have been deleted since it was read (RES-4).
function hasRegistry(before: PodRow, { registryId }: Pick<PodRow, 'registryId'>): SQL | undefined {
  if (registryId === null || registryId === before.registryId) return undefined
  return sql`EXISTS (SELECT 1 FROM registries WHERE id = ${registryId} AND team_id = ${before.teamId})`
}

function usageInsert(db: Database, before: PodRow, after: PodRow, { startedAtMs, endedAtMs }: UsageInterval) {
  const { compute, cloud } = before.spec
  const gpu = compute.kind === 'gpu' ? compute : null
  const isRunning = before.chargedFromMs !== null
  const held = { gpuTypeId: gpu?.typeId ?? null, gpuCount: gpu?.count ?? 0, vcpus: before.vcpus, diskGb: podDiskGb(before.spec) }
  const kept = { gpuTypeId: null, gpuCount: 0, vcpus: 0, diskGb: before.spec.mounts.persistent?.sizeGb ?? 0 }
  return insertClosed(db, {
    workloadId: before.id,
    sequence: after.version,
    kind: before.clusterId === null ? 'POD' : 'CLUSTER',
    resourceId: before.clusterId ?? before.id,
    teamId: before.teamId,
    startedAtMs,
    endedAtMs,
    cloud,
    ...(isRunning ? { ...held, ...runningRates(before) } : { ...kept, ...stoppedRates(before) }),
  })
}
