import { neededWorkers, type ScalingInputs } from '../worker/scaling.ts'
import type { ReadyWorker, Worker } from '../worker/worker.ts'

/** Which idle workers of one endpoint may go, so that work that fits nowhere else has room (PP-180). Pure. */

/** How long a worker is without a job before it gives way: a shorter pause is one between two jobs. */
const OWN_PAUSE_MS = 1_000
/** The same towards work of other accounts (PP-183). */
const OTHERS_PAUSE_MS = 10_000
/** How long a seeker is remembered: it asks again at least once a minute while it waits. */
const REMEMBERED_MS = 120_000
/** Seekers that are remembered, of the own account and of others each. */
const MAX_SEEKERS = 16
/** Removals after which a worker is still expected to go: 90 s. */
const MAX_REMOVALS = 2

/** Somebody who looks for room, as the endpoint that holds some is told. */
export interface RoomAsker {
  endpointId: string
  /** Of the same account. */
  own: boolean
}

/** What a worker that holds room is doing. */
export interface RoomHolder {
  workerId: string
  use: 'working' | 'starting' | 'idle' | 'leaving' | 'stuck'
  /** For how long it has been without a job. */
  idleMs: number
}

/** What an endpoint answers to one that looks for room. */
export interface RoomOffer {
  holders: RoomHolder[]
  /** Idle workers that may go, at most. */
  spare: number
  /** What keeps the other idle ones. */
  keptFor: 'its own jobs' | 'workers.min'
  /** For how long a worker has to have been idle before it goes. */
  pauseMs: number
}

/** One that looked for room here and is to be told when more workers may go than it saw (PP-182). */
export interface RoomSeeker extends RoomAsker {
  untilMs: number
  seen: number
}

/** What an endpoint holds, on whatever host. `lowQueued`: its queued low priority jobs, which need a worker as much as others do. */
export function offerRoom(inputs: ScalingInputs, lowQueued: number, own: boolean): RoomOffer {
  const holders = inputs.workers.flatMap((worker) => holderOf(worker, inputs))
  const hasQueue = inputs.queued + lowQueued > 0
  const needed = neededWorkers(inputs)
  // One that has no host yet fills no place of workers.min.
  const placed = inputs.workers.filter((w) => w.version === inputs.version && (w.phase === 'STARTING' || w.phase === 'READY')).length
  const idle = holders.filter(({ use }) => use === 'idle').length
  return {
    holders,
    spare: hasQueue ? 0 : Math.max(0, Math.min(idle, placed - needed)),
    keptFor: hasQueue || needed > inputs.min ? 'its own jobs' : 'workers.min',
    pauseMs: own ? OWN_PAUSE_MS : OTHERS_PAUSE_MS,
  }
}

/** Whether a worker may go at this moment, as far as it alone is concerned. */
export function mayGo({ use, idleMs }: RoomHolder, { pauseMs }: RoomOffer): boolean {
  return use === 'idle' && idleMs >= pauseMs
}

/** How many workers would go if they were asked now. */
export function countWilling(offer: RoomOffer): number {
  return Math.min(offer.spare, offer.holders.filter((holder) => mayGo(holder, offer)).length)
}

/** In how long another worker would go without anything happening; null when time alone changes nothing. */
export function nextWillingInMs(offer: RoomOffer): number | null {
  const pauses = offer.holders
    .filter((holder) => holder.use === 'idle' && !mayGo(holder, offer))
    .map(({ idleMs }) => offer.pauseMs - idleMs)
  return countWilling(offer) >= offer.spare || pauses.length === 0 ? null : Math.min(...pauses)
}

/** The same answers once some workers have agreed to go. */
export function asLeaving(offers: ReadonlyMap<string, RoomOffer>, gone: ReadonlySet<string>): Map<string, RoomOffer> {
  const entries = [...offers].map(([id, offer]): [string, RoomOffer] => {
    const holders = offer.holders.map((holder) => (gone.has(holder.workerId) ? { ...holder, use: 'leaving' as const } : holder))
    return [id, { ...offer, holders, spare: offer.spare - holders.filter(({ workerId }) => gone.has(workerId)).length }]
  })
  return new Map(entries)
}

/** Remembers one that asked, in place of what was known of it. Those who have asked for longest stay. */
export function rememberSeeker(seekers: readonly RoomSeeker[], asker: RoomAsker, seen: number, nowMs: number): RoomSeeker[] {
  const known = seekers.filter(({ endpointId, untilMs }) => endpointId !== asker.endpointId && untilMs > nowMs)
  const isFull = known.filter(({ own }) => own === asker.own).length >= MAX_SEEKERS
  return isFull ? known : [...known, { ...asker, untilMs: nowMs + REMEMBERED_MS, seen }]
}

/** Who of those that asked is told now, and what is remembered of the others. */
export function tellSeekers(seekers: readonly RoomSeeker[], willing: (own: boolean) => number, nowMs: number) {
  const current = seekers.filter(({ untilMs }) => untilMs > nowMs)
  const isTold = ({ own, seen }: RoomSeeker) => willing(own) > seen
  return {
    told: current.filter(isTold).map(({ endpointId }) => endpointId),
    left: current.filter((seeker) => !isTold(seeker)).map((seeker) => ({ ...seeker, seen: Math.min(seeker.seen, willing(seeker.own)) })),
  }
}

function holderOf(worker: Worker, { held, version, nowMs }: ScalingInputs): RoomHolder[] {
  const isFree = (held.get(worker.id) ?? 0) === 0
  const holder = (use: RoomHolder['use'], idleMs = 0) => [{ workerId: worker.id, use, idleMs }]
  switch (worker.phase) {
    case 'STARTING':
      return holder('starting')
    case 'READY':
      if (!isFree) return holder('working')
      // The scaler lets one of an older release go anyway.
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

// Nobody counts on the room of one that its host was asked to remove again and again.
function leaving({ attempts }: { attempts: number }): RoomHolder['use'] {
  return attempts > MAX_REMOVALS ? 'stuck' : 'leaving'
}

function idleForMs({ idleSinceMs }: ReadyWorker, nowMs: number): number {
  return idleSinceMs === null ? 0 : Math.max(0, nowMs - idleSinceMs)
}
