import { neededWorkers, type ScalingInputs } from '../worker/scaling.ts'
import type { ReadyWorker, Worker } from '../worker/worker.ts'

/** Idle workers of one endpoint that may be preempted, so that work which fits on no host has capacity (PREEMPT-1). Pure. */

/** Idle time after which a worker may be preempted for work of its own account, milliseconds. A shorter pause is one between two jobs. */
const OWN_PAUSE_MS = 1_000
/** Idle time after which a worker may be preempted for work of other accounts, milliseconds (PREEMPT-4). */
const OTHERS_PAUSE_MS = 10_000
/** Retention of a seeker, milliseconds: it asks again at least once a minute while it waits. */
const REMEMBERED_MS = 120_000
/** Maximum number of retained seekers of the own account, and of other accounts. */
const MAX_SEEKERS = 16
/** Number of removal requests up to which a worker is still expected to leave; the next one follows 90 s after the first. */
const MAX_REMOVALS = 2

/** An endpoint that searches for capacity, as shown to the endpoint that holds some. */
export interface SeekingEndpoint {
  endpointId: string
  /** Whether both endpoints belong to the same account. */
  own: boolean
}

/** A worker that holds capacity, with its activity. */
export interface CapacityHolder {
  workerId: string
  use: 'working' | 'starting' | 'idle' | 'leaving' | 'stuck'
  /** Time that it has been without a job, milliseconds. */
  idleMs: number
}

/** Answer of an endpoint to one that searches for capacity. */
export interface CapacityOffer {
  holders: CapacityHolder[]
  /** Maximum number of idle workers that may be preempted. */
  spare: number
  /** Reason why the other idle workers stay. */
  keptFor: 'its own jobs' | 'workers.min'
  /** Idle time before a worker may be preempted, milliseconds. */
  pauseMs: number
}

/** An endpoint that searched for capacity here, to be notified when more workers than it saw may be preempted (PREEMPT-3). */
export interface CapacitySeeker extends SeekingEndpoint {
  untilMs: number
  seen: number
}

/** Capacity that an endpoint's workers hold, on any host. `lowQueued`: number of its queued low priority jobs, which need a worker too. */
export function offerCapacity(inputs: ScalingInputs, lowQueued: number, own: boolean): CapacityOffer {
  const holders = inputs.workers.flatMap((worker) => holderOf(worker, inputs))
  const hasQueue = inputs.queued + lowQueued > 0
  const needed = neededWorkers(inputs)
  // A worker without a host does not count towards workers.min.
  const placed = inputs.workers.filter((w) => w.version === inputs.version && (w.phase === 'STARTING' || w.phase === 'READY')).length
  const idle = holders.filter(({ use }) => use === 'idle').length
  return {
    holders,
    spare: hasQueue ? 0 : Math.max(0, Math.min(idle, placed - needed)),
    keptFor: hasQueue || needed > inputs.min ? 'its own jobs' : 'workers.min',
    pauseMs: own ? OWN_PAUSE_MS : OTHERS_PAUSE_MS,
  }
}

/** Whether a worker may be preempted at present, apart from the limit `spare`. */
export function mayGo({ use, idleMs }: CapacityHolder, { pauseMs }: CapacityOffer): boolean {
  return use === 'idle' && idleMs >= pauseMs
}

/** Number of workers that may be preempted at present. */
export function countWilling(offer: CapacityOffer): number {
  return Math.min(offer.spare, offer.holders.filter((holder) => mayGo(holder, offer)).length)
}

/** Time until another worker may be preempted, milliseconds; null when time alone does not change the number. */
export function nextWillingInMs(offer: CapacityOffer): number | null {
  const pauses = offer.holders
    .filter((holder) => holder.use === 'idle' && !mayGo(holder, offer))
    .map(({ idleMs }) => offer.pauseMs - idleMs)
  return countWilling(offer) >= offer.spare || pauses.length === 0 ? null : Math.min(...pauses)
}

/** The same answers after some workers have agreed to leave. */
export function asLeaving(offers: ReadonlyMap<string, CapacityOffer>, gone: ReadonlySet<string>): Map<string, CapacityOffer> {
  const entries = [...offers].map(([id, offer]): [string, CapacityOffer] => {
    const holders = offer.holders.map((holder) => (gone.has(holder.workerId) ? { ...holder, use: 'leaving' as const } : holder))
    return [id, { ...offer, holders, spare: offer.spare - holders.filter(({ workerId }) => gone.has(workerId)).length }]
  })
  return new Map(entries)
}

/** Adds an endpoint that asked, replacing its earlier entry. When the list is full, the earlier seekers stay and the new one is dropped. */
export function rememberSeeker(
  seekers: readonly CapacitySeeker[],
  seeking: SeekingEndpoint,
  seen: number,
  nowMs: number,
): CapacitySeeker[] {
  const known = seekers.filter(({ endpointId, untilMs }) => endpointId !== seeking.endpointId && untilMs > nowMs)
  const isFull = known.filter(({ own }) => own === seeking.own).length >= MAX_SEEKERS
  return isFull ? known : [...known, { ...seeking, untilMs: nowMs + REMEMBERED_MS, seen }]
}

/** Splits the seekers into those to notify and those to retain. Expired ones are dropped. */
export function seekersToNotify(seekers: readonly CapacitySeeker[], willing: (own: boolean) => number, nowMs: number) {
  const current = seekers.filter(({ untilMs }) => untilMs > nowMs)
  const isNotified = ({ own, seen }: CapacitySeeker) => willing(own) > seen
  return {
    notified: current.filter(isNotified).map(({ endpointId }) => endpointId),
    left: current
      .filter((seeker) => !isNotified(seeker))
      .map((seeker) => ({ ...seeker, seen: Math.min(seeker.seen, willing(seeker.own)) })),
  }
}

function holderOf(worker: Worker, { held, version, nowMs }: ScalingInputs): CapacityHolder[] {
  const isFree = (held.get(worker.id) ?? 0) === 0
  const holder = (use: CapacityHolder['use'], idleMs = 0) => [{ workerId: worker.id, use, idleMs }]
  switch (worker.phase) {
    case 'STARTING':
      return holder('starting')
    case 'READY':
      if (!isFree) return holder('working')
      // The scaler stops an idle worker of an older release anyway.
      return worker.version === version ? holder('idle', idleForMs(worker, nowMs)) : holder('leaving')
    case 'DRAINING':
      return holder(isFree ? leaving(worker) : 'working')
    case 'FAILED':
      return worker.released ? [] : holder(leaving(worker))
    case 'PLACING':
      return []
    default:
      return worker satisfies never
  }
}

// A worker whose host was asked to remove it again and again is not expected to leave.
function leaving({ attempts }: { attempts: number }): CapacityHolder['use'] {
  return attempts > MAX_REMOVALS ? 'stuck' : 'leaving'
}

function idleForMs({ idleSinceMs }: ReadyWorker, nowMs: number): number {
  return idleSinceMs === null ? 0 : Math.max(0, nowMs - idleSinceMs)
}
