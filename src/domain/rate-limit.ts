import { fairCount } from '../host-protocol/fair-room.ts'

/** REST request windows (RATE-1, RATE-5): fixed, aligned to UTC. Pure: the caller brings the clock. */
export const RATE_WINDOWS = [
  { name: 'minute', seconds: 60 },
  { name: 'hour', seconds: 3600 },
  { name: 'day', seconds: 86_400 },
] as const

export type RateWindowName = (typeof RATE_WINDOWS)[number]['name']

/** Requests that one spender may send in each window. */
export type RateQuota = Record<RateWindowName, number>

export const DEFAULT_QUOTA: RateQuota = { minute: 60, hour: 3000, day: 50_000 }

/** All pods that a person pays for may send as much as so many of them (CAP-2): more pods or organizations are not more requests without end. */
const PODS_AT_ONCE = 10
/** Of a minute's quota, what calls that end something may use beyond used-up windows, and the least of it (CAP-3). */
const RESERVED_PART = 10
const LEAST_RESERVE = 5
/** All keys and sessions of a user together may use as much of it as so many of them (SHR-44). */
const RESERVES_AT_ONCE = 10
/** Behind that, one call a minute for each that has made none: more than all keys and sessions of one account. */
const KEPT_FOR_OTHERS = 256

/** Whose windows a request spends: those of a person, or of a pod and with it those that all pods of the person who pays share. */
export type Spender = { userId: string; podId?: never } | { podId: string; teamId: string; userId?: never }

/** Whose windows a caller spends (CAP-1): a key inside a pod never spends those of a person, and a person's never depend on a pod. */
export function spenderOf(caller: { via: string; credentialId: string; userId: string; teamId: string }): Spender {
  return caller.via === 'POD' ? { podId: caller.credentialId, teamId: caller.teamId } : { userId: caller.userId }
}

/** A spender as a text that no other spender has: for what counts by a key (CAP-1). */
export function spenderName(spender: Spender): string {
  return spender.userId ?? `pod ${spender.podId}`
}

/** What all pods that an account pays for may send together, by the quota of that account (CAP-2). */
export function quotaOfPods({ minute, hour, day }: RateQuota): RateQuota {
  return { minute: PODS_AT_ONCE * minute, hour: PODS_AT_ONCE * hour, day: PODS_AT_ONCE * day }
}

/** Calls a minute that end something and are served although a window is used up (CAP-3). */
export function reserveOf({ minute }: Pick<RateQuota, 'minute'>): number {
  return Math.max(LEAST_RESERVE, Math.ceil(minute / RESERVED_PART))
}

/** Whose reserve a call of a user spends, beside those of the user's other keys and sessions in the same minute. */
export interface ReserveShare {
  credential: string
  used: Map<string, number>
}

/** What has been spent: the count belongs to the window that starts at `startMs`, and to no other. `reserve` is by the minute. */
export type RateCounts = Record<RateWindowName | 'reserve', { startMs: number; count: number }>

/** Windows that a request has to find room in, with what they hold. */
export interface RateLevel {
  counts: RateCounts
  quota: RateQuota
  /** Absent: the caller has one reserve. */
  share?: ReserveShare
}

export interface RateWindowState {
  name: RateWindowName
  quota: number
  windowSeconds: number
  remaining: number
  /** Whole seconds until the window ends, rounded up, so that a caller who waits them is in the next window. */
  resetSeconds: number
}

/**
 * What became of a request, as numbers, the least that can be said of it between two isolates: when it was, 1 for allowed, and the counts of
 * minute, hour and day after it.
 */
export type RateOutcome = readonly number[]

export interface RateVerdict {
  allowed: boolean
  /** When refused: the exceeded window with the longest wait (RATE-4). */
  exceeded: RateWindowName | null
  retryAfterSeconds: number
  windows: RateWindowState[]
}

/** Counts of a spender that has not been seen. */
export function emptyCounts(): RateCounts {
  const none = () => ({ startMs: 0, count: 0 })
  return { minute: none(), hour: none(), day: none(), reserve: none() }
}

/**
 * Decides one request at `nowMs` against what was spent before, and counts it there. A refused request does not count (RATE-5). One that `ends`
 * something has the reserve where a window is used up, and spends nothing else then (CAP-3): a stolen key cannot use up that of another one.
 */
export function spendOne(counts: RateCounts, quota: RateQuota, nowMs: number, ends = false, share?: ReserveShare): RateOutcome {
  return spendAll([{ counts, quota, ...(share && { share }) }], nowMs, ends)
}

/** The same where several have to have room (CAP-2): it counts for all of them or for none. The outcome is told by the quota of the first. */
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

/** Whether the request may be answered. */
export function isAllowed([, allowed]: RateOutcome): boolean {
  return allowed === 1
}

/** What an outcome means under the quota that it was decided by. The reserve of what `ends` something is there again in the next minute. */
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
  // The last that is full waits longest: windows that end together are named by the shorter.
  const full = allowed ? [] : windows.filter(({ name, remaining }) => (ends ? name === 'minute' : remaining === 0))
  const longest = full.reduce((worst, { resetSeconds }) => Math.max(worst, resetSeconds), 0)
  const exceeded = full.find(({ resetSeconds }) => resetSeconds === longest)?.name ?? null
  return { allowed, exceeded, retryAfterSeconds: longest, windows }
}

/** What an answer says of the windows. */
export interface RateLimitHeaders {
  RateLimit: string
  'RateLimit-Policy': string
}

/** The two header fields, members in the order minute, hour, day (RATE-2): lists of RFC 9651 whose parameters are whole numbers. */
export function rateLimitHeaders({ windows }: Pick<RateVerdict, 'windows'>): RateLimitHeaders {
  return {
    RateLimit: windows.map(({ name, remaining, resetSeconds }) => `"${name}";r=${remaining};t=${resetSeconds}`).join(', '),
    'RateLimit-Policy': windows.map(({ name, quota, windowSeconds }) => `"${name}";q=${quota};w=${windowSeconds}`).join(', '),
  }
}

function hasRoom({ counts, quota }: RateLevel): boolean {
  return counts.minute.count < quota.minute && counts.hour.count < quota.hour && counts.day.count < quota.day
}

function hasReserve({ counts: { reserve }, quota, share }: RateLevel): boolean {
  const most = reserveOf(quota)
  if (!share) return reserve.count < most
  const own = share.used.get(share.credential) ?? 0
  return own < Math.min(most, fairCount(RESERVES_AT_ONCE * most + KEPT_FOR_OTHERS, KEPT_FOR_OTHERS, reserve.count - own))
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
