/** REST request windows (RATE-1, RATE-5): fixed, aligned to UTC. Pure: the caller brings the clock. */
export const RATE_WINDOWS = [
  { name: 'minute', seconds: 60 },
  { name: 'hour', seconds: 3600 },
  { name: 'day', seconds: 86_400 },
] as const

export type RateWindowName = (typeof RATE_WINDOWS)[number]['name']

/** Requests that one user may send in each window. */
export type RateQuota = Record<RateWindowName, number>

export const DEFAULT_QUOTA: RateQuota = { minute: 60, hour: 3000, day: 50_000 }

/** What has been spent: the count belongs to the window that starts at `startMs`, and to no other. */
export type RateCounts = Record<RateWindowName, { startMs: number; count: number }>

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

/** Counts of a user that has not been seen. */
export function emptyCounts(): RateCounts {
  return { minute: { startMs: 0, count: 0 }, hour: { startMs: 0, count: 0 }, day: { startMs: 0, count: 0 } }
}

/** Decides one request at `nowMs` against what was spent before, and counts it there. A refused request does not count (RATE-5). */
export function spendOne(counts: RateCounts, { minute, hour, day }: RateQuota, nowMs: number): RateOutcome {
  turn(counts.minute, 60_000, nowMs)
  turn(counts.hour, 3_600_000, nowMs)
  turn(counts.day, 86_400_000, nowMs)
  const hasRoom = counts.minute.count < minute && counts.hour.count < hour && counts.day.count < day
  if (hasRoom) {
    counts.minute.count += 1
    counts.hour.count += 1
    counts.day.count += 1
  }
  return [nowMs, hasRoom ? 1 : 0, counts.minute.count, counts.hour.count, counts.day.count]
}

/** Whether the request may be answered. */
export function isAllowed([, allowed]: RateOutcome): boolean {
  return allowed === 1
}

/** What an outcome means under the quota that it was decided by. */
export function verdictOf(quota: RateQuota, outcome: RateOutcome): RateVerdict {
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
  const full = allowed ? [] : windows.filter(({ remaining }) => remaining === 0)
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

function turn(window: { startMs: number; count: number }, ms: number, nowMs: number): void {
  const startMs = nowMs - (nowMs % ms)
  if (window.startMs === startMs) return
  window.startMs = startMs
  window.count = 0
}
