import { fairCount } from '../host-protocol/fair-room.ts'

/** REST request windows (RATE-1, RATE-5): fixed, aligned to UTC. Pure: the caller passes the time. */
export const RATE_WINDOWS = [
  { name: 'minute', seconds: 60 },
  { name: 'hour', seconds: 3600 },
  { name: 'day', seconds: 86_400 },
] as const

export type RateWindowName = (typeof RATE_WINDOWS)[number]['name']

/** Requests that one spender may send in each window. */
export type RateQuota = Record<RateWindowName, number>

/** Quota of a spender without one of its own. */
export const DEFAULT_QUOTA: RateQuota = { minute: 60, hour: 3000, day: 50_000 }

/** All pods that a person pays for share the quota of this many pods (CAP-2): more pods or organizations do not raise it. */
const PODS_AT_ONCE = 10
/**
 * The reserve of calls that end a resource, for use when windows are used up (CAP-3): the minute's quota divided by the first, at least the
 * second.
 */
const RESERVED_PART = 10
const LEAST_RESERVE = 5
/** All keys and sessions of a user share the reserve of this many of them (SHR-44). */
const RESERVES_AT_ONCE = 10
/** After that, each key or session that has made no call may make one a minute: this is more than all keys and sessions of one account. */
const RESERVED_FOR_OTHERS = 256

/**
 * The owner of the windows that a request counts in: a person, or a pod, which also counts in the windows that all pods of its payer share.
 */
export type Spender = { userId: string; podId?: never } | { podId: string; teamId: string; userId?: never }

/** The spender of a caller's requests (CAP-1): a key inside a pod never spends the windows of a person, and those never depend on a pod. */
export function spenderOf(caller: { via: string; credentialId: string; userId: string; teamId: string }): Spender {
  return caller.via === 'POD' ? { podId: caller.credentialId, teamId: caller.teamId } : { userId: caller.userId }
}

/** A text that identifies a spender, for counts by key (CAP-1). */
export function spenderName(spender: Spender): string {
  return spender.userId ?? `pod ${spender.podId}`
}

/** The quota that all pods of an account share, from the quota of that account (CAP-2). */
export function quotaOfPods({ minute, hour, day }: RateQuota): RateQuota {
  return { minute: PODS_AT_ONCE * minute, hour: PODS_AT_ONCE * hour, day: PODS_AT_ONCE * day }
}

/** The number of calls per minute that end something and are served although a window is used up (CAP-3). */
export function reserveOf({ minute }: Pick<RateQuota, 'minute'>): number {
  return Math.max(LEAST_RESERVE, Math.ceil(minute / RESERVED_PART))
}

/**
 * The credential whose part of the reserve a call spends, and the calls from the reserve by each of the user's credentials in the same
 * minute.
 */
export interface ReserveShare {
  credential: string
  used: Map<string, number>
}

/** The requests counted so far: each count belongs to the window that starts at `startMs`. `reserve` is per minute. */
export type RateCounts = Record<RateWindowName | 'reserve', { startMs: number; count: number }>

/** Windows that must have room for a request, with their counts. */
export interface RateLevel {
  counts: RateCounts
  quota: RateQuota
  /** Absent: the reserve is not divided. */
  share?: ReserveShare
}

/** One window after a request, as the RateLimit headers show it. */
export interface RateWindowState {
  name: RateWindowName
  quota: number
  windowSeconds: number
  remaining: number
  /** Whole seconds until the window ends, rounded up, so that a caller that waits for as long is in the next window. */
  resetSeconds: number
}

/**
 * The result of a request as numbers, the shortest form to send between two isolates: its time, 1 if it is allowed, and the counts of
 * minute, hour and day after it.
 */
export type RateOutcome = readonly number[]

/** Whether a request is within its quota. */
export interface RateVerdict {
  allowed: boolean
  /** When refused: the exceeded window with the longest wait (RATE-4). */
  exceeded: RateWindowName | null
  retryAfterSeconds: number
  windows: RateWindowState[]
}

/** The counts of a new spender. */
export function emptyCounts(): RateCounts {
  const none = () => ({ startMs: 0, count: 0 })
  return { minute: none(), hour: none(), day: none(), reserve: none() }
}

/**
 * Decides one request at `nowMs`, and counts it. A refused request does not count (RATE-5). A request that `ends` something may use the
 * reserve if a window is used up, and then counts in the reserve only (CAP-3): a stolen key cannot use up the reserve of another key.
 */
export function spendOne(counts: RateCounts, quota: RateQuota, nowMs: number, ends = false, share?: ReserveShare): RateOutcome {
  return spendAll([{ counts, quota, ...(share && { share }) }], nowMs, ends)
}

/**
 * The same for several levels that must all have room (CAP-2): a request counts in all of them or in none. The outcome is expressed in the
 * quota of the first.
 */
export function spendAll(levels: readonly [RateLevel, ...RateLevel[]], nowMs: number, ends: boolean): RateOutcome {
  for (const level of levels) turnAll(level, nowMs)
  const isServed = levels.every((level) => hasRoom(level) || (ends && hasReserve(level)))
  if (isServed) for (const level of levels) count(level)
  const used = RATE_WINDOWS.map(({ name }) => {
    const left = levels.map(({ counts, quota }) => quota[name] - counts[name].count)
    return levels[0].quota[name] - Math.min(...left)
  })
  return [nowMs, isServed ? 1 : 0, ...used]
}

/** Whether an outcome allows the request. */
export function isAllowed([, allowed]: RateOutcome): boolean {
  return allowed === 1
}

/**
 * The verdict of an outcome, under the quota that it was decided by. A refused request that `ends` something may be sent again in the next
 * minute, which has a new reserve.
 */
export function verdictOf(quota: RateQuota, outcome: RateOutcome, ends = false): RateVerdict {
  const [nowMs = 0, , ...used] = outcome
  const allowed = isAllowed(outcome)
  const windows = RATE_WINDOWS.map(({ name, seconds }, i) => ({
    name,
    quota: quota[name],
    windowSeconds: seconds,
    remaining: Math.max(0, quota[name] - (used[i] ?? 0)),
    resetSeconds: seconds - Math.floor((nowMs % (seconds * 1000)) / 1000),
  }))
  // The full window that ends last decides the wait; of those that end together the shortest is named.
  const full = allowed ? [] : windows.filter(({ name, remaining }) => (ends ? name === 'minute' : remaining === 0))
  const longest = full.reduce((worst, { resetSeconds }) => Math.max(worst, resetSeconds), 0)
  const exceeded = full.find(({ resetSeconds }) => resetSeconds === longest)?.name ?? null
  return { allowed, exceeded, retryAfterSeconds: longest, windows }
}

function hasRoom({ counts, quota }: RateLevel): boolean {
  return counts.minute.count < quota.minute && counts.hour.count < quota.hour && counts.day.count < quota.day
}

function hasReserve({ counts: { reserve }, quota, share }: RateLevel): boolean {
  const most = reserveOf(quota)
  if (!share) return reserve.count < most
  const own = share.used.get(share.credential) ?? 0
  return own < Math.min(most, fairCount(RESERVES_AT_ONCE * most + RESERVED_FOR_OTHERS, RESERVED_FOR_OTHERS, reserve.count - own))
}

function count(level: RateLevel): void {
  const { minute, hour, day, reserve } = level.counts
  if (hasRoom(level)) {
    for (const window of [minute, hour, day]) window.count += 1
    return
  }
  reserve.count += 1
  if (level.share) level.share.used.set(level.share.credential, (level.share.used.get(level.share.credential) ?? 0) + 1)
}

function turnAll({ counts: { minute, hour, day, reserve }, share }: RateLevel, nowMs: number): void {
  turn(minute, 60_000, nowMs)
  if (turn(reserve, 60_000, nowMs)) share?.used.clear()
  turn(hour, 3_600_000, nowMs)
  turn(day, 86_400_000, nowMs)
}

function turn(window: { startMs: number; count: number }, ms: number, nowMs: number): boolean {
  const startMs = nowMs - (nowMs % ms)
  if (window.startMs === startMs) return false
  window.startMs = startMs
  window.count = 0
  return true
}
