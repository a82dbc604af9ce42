import type { EndpointConfig } from '../endpoint/record.ts'
import { counted } from '../text/counted.ts'
import { isLive, type Worker } from './worker.ts'

/** Inputs of a scaling decision. Pure: the same inputs lead to the same decision. */
export interface ScalingInputs {
  policy: EndpointConfig['scaling']
  /** A load-balancing endpoint: requests take the place of jobs, and its idle timeout applies with any policy (LB-5). */
  isBalanced?: boolean
  /** Number of queued jobs that may start workers; low priority jobs do not (SCALE-4). */
  queued: number
  /** Submission times of the first of them, as many as `waitingSampleSize` returns. */
  waitingSinceMs: readonly number[]
  workers: readonly Worker[]
  /** Number of jobs that occupy each worker, by id: its leases, or a stopped job that it has not released (WRK-45). */
  held: ReadonlyMap<string, number>
  /** Leases of jobs that are not low priority, by worker id. */
  heldNormal: ReadonlyMap<string, number>
  min: number
  max: number
  idleTimeoutMs: number
  /** Current release; workers of another version are stale (SCALE-6). */
  version: number
  /** After failures, no worker is started before this instant. */
  launchNotBeforeMs: number
  nowMs: number
}

/** The number of workers that an endpoint should have, with the reason. */
export interface ScalingDecision {
  /** Desired number of workers of the current release. */
  desired: number
  /** Present number of these workers: placing, starting or ready. */
  current: number
  start: number
  stop: string[]
  /** Reason of the decision, for users. */
  reason: string
  /** Time of the next decision if no event causes an earlier one. */
  nextAtMs: number | null
}

/** Number of workers that a policy requests, before bounds: 0 when no job is queued or running. */
export interface Demand {
  workers: number
  reason: string
  nextAtMs: number | null
}

/** Maximum number of workers of one endpoint that search for a host at the same time. */
const MAX_PLACING = 10
/** SCALE-1: REQUEST_COUNT has no idle timeout of its own, so its workers stay for the default one (SCALE-12). */
export const REQUEST_COUNT_IDLE_MS = 5_000
const BACKOFF_BASE_MS = 1_000
const BACKOFF_MAX_MS = 5 * 60_000

/** Delay before the next start after this many failures in a row: 1 s, 2 s, 4 s … 5 min. */
export function launchBackoffMs(failures: number): number {
  return failures <= 0 ? 0 : Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** Math.min(failures - 1, 20))
}

/** SCALE-2 to SCALE-6: decides which workers to start and to stop. */
export function decideScaling(inputs: ScalingInputs): ScalingDecision {
  const groups = groupWorkers(inputs)
  const demand = demandOf(inputs, groups)
  const ceiling = Math.max(0, inputs.max - groups.finishing)
  const wanted = Math.max(inputs.min, demand.workers)
  const needed = Math.min(wanted, ceiling)
  const current = groups.current.length
  const missing = Math.max(0, needed - current)
  const mayLaunch = inputs.nowMs >= inputs.launchNotBeforeMs
  const start = mayLaunch ? Math.min(missing, roomToPlace(groups.current)) : 0
  // A finishing worker of an older release delays starts, but does not cause the stop of a current one.
  const surplus = surplusWorkers(inputs, groups.current, Math.min(wanted, inputs.max))
  const reasons = [
    ...(groups.staleIdle.length > 0 ? [`${groups.staleIdle.length} idle of an older release replaced`] : []),
    ...surplus.reasons,
    ...(missing > 0 ? [missingReason(inputs, demand, mayLaunch)] : []),
    ...(missing === 0 && isAtLimit(inputs, groups, demand, ceiling) ? [`workers.max is ${inputs.max}`] : []),
  ]
  return {
    desired: Math.max(needed, current - surplus.stop.length),
    current,
    start,
    stop: [...groups.staleIdle, ...surplus.stop],
    reason: reasons.join('; ') || demand.reason,
    nextAtMs: earliest(missing > 0 && !mayLaunch ? inputs.launchNotBeforeMs : null, demand.nextAtMs, surplus.nextAtMs),
  }
}

/** Number of workers of the current release that an endpoint needs at present, regardless of how long idle ones have been idle. */
export function neededWorkers(inputs: ScalingInputs): number {
  return Math.min(Math.max(inputs.min, demandOf(inputs, groupWorkers(inputs)).workers), inputs.max)
}

/** SCALE-2: one worker for each job that has waited for the delay, minus the free workers; the first worker does not wait (SCALE-11). */
export function desiredByQueueDelay(
  load: { queued: number; waitingSinceMs: readonly number[]; current: number; free: number; available: number },
  queueDelayMs: number,
  nowMs: number,
): Demand {
  if (load.queued === 0) return { workers: 0, reason: 'no job waits', nextAtMs: null }
  const dueAtMs = load.waitingSinceMs.map((sinceMs) => sinceMs + queueDelayMs).sort((a, b) => a - b)
  const overdue = dueAtMs.filter((atMs) => nowMs >= atMs).length
  // A job that a free worker will take adds nothing when its delay passes.
  const nextAtMs = dueAtMs.slice(load.free).find((atMs) => nowMs < atMs) ?? null
  const added = Math.max(0, overdue - load.free)
  if (load.available === 0 && added <= 1) return { workers: load.current + 1, reason: 'a job waits and no worker is available', nextAtMs }
  const reason = `${counted(overdue, 'job')} waiting for ${queueDelayMs / 1000} s or longer, ${counted(load.free, 'worker')} free or starting`
  return { workers: load.current + added, reason, nextAtMs }
}

/** SCALE-3: `ceil(requests / requestCount)`. Workers that hold only uncounted jobs are no capacity, so they are added (SCALE-13). */
export function desiredByRequestCount(
  load: { requests: number; unavailable: number },
  requestCount: number,
  noun = 'queued or running job',
): Demand {
  const workers = Math.ceil(load.requests / requestCount) + load.unavailable
  return { workers, reason: `${counted(load.requests, noun)} at ${requestCount} a worker`, nextAtMs: null }
}

/** Number of first queued jobs whose age a decision needs: no more than could start workers at present. */
export function waitingSampleSize(inputs: Omit<ScalingInputs, 'waitingSinceMs'>): number {
  if (inputs.policy.type !== 'QUEUE_DELAY' || inputs.queued === 0) return 0
  const groups = groupWorkers(inputs)
  const startable = Math.min(MAX_PLACING, inputs.max - groups.finishing - groups.current.length)
  return startable <= 0 ? 0 : groups.free + startable
}

interface WorkerGroups {
  current: Worker[]
  staleIdle: string[]
  /** Busy workers that are draining or of an older release: they count towards workers.max, and take no new job. */
  finishing: number
  free: number
  /** Workers occupied only by low priority or stopped jobs. */
  unavailable: number
}

function groupWorkers(inputs: Pick<ScalingInputs, 'workers' | 'held' | 'heldNormal' | 'version'>): WorkerGroups {
  const isIdle = (w: Worker) => (inputs.held.get(w.id) ?? 0) === 0
  const live = inputs.workers.filter(isLive)
  const current = live.filter((w) => w.version === inputs.version)
  const stale = live.filter((w) => w.version !== inputs.version)
  return {
    current,
    staleIdle: stale.filter(isIdle).map((w) => w.id),
    finishing: [...stale, ...inputs.workers.filter((w) => w.phase === 'DRAINING')].filter((w) => !isIdle(w)).length,
    free: current.filter((w) => w.phase !== 'READY' || isIdle(w)).length,
    unavailable: current.filter((w) => !isIdle(w) && !inputs.heldNormal.has(w.id)).length,
  }
}

function demandOf(inputs: ScalingInputs, groups: WorkerGroups): Demand {
  const { policy, queued, waitingSinceMs, nowMs } = inputs
  const current = groups.current.length
  if (policy.type === 'QUEUE_DELAY') {
    const load = { queued, waitingSinceMs, current, free: groups.free, available: current - groups.unavailable }
    return desiredByQueueDelay(load, policy.queueDelay * 1000, nowMs)
  }
  const running = groups.current.reduce((sum, worker) => sum + (inputs.heldNormal.get(worker.id) ?? 0), 0)
  const load = { requests: queued + running, unavailable: groups.unavailable }
  return desiredByRequestCount(load, policy.requestCount, inputs.isBalanced ? 'request' : undefined)
}

function missingReason(inputs: ScalingInputs, demand: Demand, mayLaunch: boolean): string {
  const why = demand.workers >= inputs.min ? demand.reason : `workers.min is ${inputs.min}`
  return mayLaunch ? why : `${why}; starts are delayed because workers failed`
}

// At the limit the ages of queued jobs are not read, so the demand by age is unknown.
function isAtLimit({ policy, queued }: ScalingInputs, groups: WorkerGroups, demand: Demand, ceiling: number): boolean {
  const full = policy.type === 'QUEUE_DELAY' && queued > 0 && groups.free === 0 && groups.current.length >= ceiling
  return full || demand.workers > ceiling
}

// A long queue without capacity must not become thousands of workers that all search for a host: a few search at a time, and no more are
// added while one of them has found no capacity.
function roomToPlace(current: readonly Worker[]): number {
  const placing = current.filter((w) => w.phase === 'PLACING')
  return placing.some((w) => w.attempts > 0) ? 0 : Math.max(0, MAX_PLACING - placing.length)
}

/** Idle time after which a worker stops, milliseconds (SCALE-5, END-6). */
export function idlePeriodMs({
  policy,
  isBalanced,
  idleTimeoutMs,
}: Pick<ScalingInputs, 'policy' | 'isBalanced' | 'idleTimeoutMs'>): number {
  return policy.type === 'QUEUE_DELAY' || isBalanced === true ? idleTimeoutMs : REQUEST_COUNT_IDLE_MS
}

/**
 * SCALE-5. A surplus worker stops only after the idle period, however the load changes; lower demand alone stops none. Workers above
 * workers.max stop at once if idle.
 */
function surplusWorkers(inputs: ScalingInputs, current: readonly Worker[], kept: number) {
  const idleMs = idlePeriodMs(inputs)
  const stop: string[] = []
  const reasons = new Set<string>()
  let nextAtMs: number | null = null
  let left = current.length
  const idle = current.filter((w) => (inputs.held.get(w.id) ?? 0) === 0).map((w) => ({ id: w.id, expiryMs: idleSinceMs(w) + idleMs }))
  for (const { id, expiryMs } of idle.sort((a, b) => a.expiryMs - b.expiryMs)) {
    if (left <= kept) break
    if (left <= inputs.max && inputs.nowMs < expiryMs) {
      if (Number.isFinite(expiryMs)) nextAtMs = earliest(nextAtMs, expiryMs)
      continue
    }
    reasons.add(left > inputs.max ? `workers.max is ${inputs.max}` : `idle for ${idleMs / 1000} s`)
    stop.push(id)
    left--
  }
  return { stop, reasons: [...reasons], nextAtMs }
}

// A worker that searches for a host counts as idle since its creation. A starting worker is never idle: its image is being pulled.
function idleSinceMs(worker: Worker): number {
  if (worker.phase === 'PLACING') return worker.createdAtMs
  return worker.phase === 'READY' ? (worker.idleSinceMs ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY
}

function earliest(...timesMs: (number | null)[]): number | null {
  const known = timesMs.filter((atMs) => atMs !== null)
  return known.length === 0 ? null : Math.min(...known)
}
