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

export interface RateVerdict {
  allowed: boolean
  /** When refused: the exceeded window with the longest wait (RATE-4). */
  exceeded: RateWindowName | null
  retryAfterSeconds: number
  windows: RateWindowState[]
  /** Counts to keep. A refused request does not count (RATE-5). */
  counts: RateCounts
}

/** Counts of a user that has not been seen. */
export function emptyCounts(): RateCounts {
  return { minute: { startMs: 0, count: 0 }, hour: { startMs: 0, count: 0 }, day: { startMs: 0, count: 0 } }
}

/** Decides one request at `nowMs` against what was spent before. */
export function takeRequest(before: RateCounts, quota: RateQuota, nowMs: number): RateVerdict {
  const current = RATE_WINDOWS.map(({ name, seconds }) => {
    const startMs = Math.floor(nowMs / (seconds * 1000)) * seconds * 1000
    const used = before[name].startMs === startMs ? before[name].count : 0
    return { name, seconds, startMs, used, resetSeconds: Math.ceil((startMs + seconds * 1000 - nowMs) / 1000) }
  })
  const full = current.filter(({ name, used }) => used >= quota[name])
  const allowed = full.length === 0
  const longest = full.reduce((worst, window) => Math.max(worst, window.resetSeconds), 0)
  const spent = allowed ? 1 : 0
  return {
    allowed,
    exceeded: full.find(({ resetSeconds }) => resetSeconds === longest)?.name ?? null,
    retryAfterSeconds: longest,
    windows: current.map(({ name, seconds, used, resetSeconds }) => ({
      name,
      quota: quota[name],
      windowSeconds: seconds,
      remaining: Math.max(0, quota[name] - used - spent),
      resetSeconds,
    })),
    counts: Object.fromEntries(current.map(({ name, startMs, used }) => [name, { startMs, count: used + spent }])) as RateCounts,
  }
}
