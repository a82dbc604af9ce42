import { LIMIT_BUCKETS, type LimitBucket } from '../../contract/jobs/job-routes.ts'

/** Limit of one operation of the job API (LIM-1): per user and endpoint. */
export interface JobLimit {
  /** Calls in one window. */
  rate: number
  /** Calls in progress at the same time; null: not limited. */
  concurrent: number | null
}

/** The limits of a plane; an operator may override each part. */
export interface JobLimitSettings {
  limits: Readonly<Record<LimitBucket, JobLimit>>
  /** Each running worker of an endpoint raises all its limits to at least this much (LIM-1). */
  requestsPerWorker: number
}

/** Windows are fixed slots aligned to UTC. */
export const JOB_WINDOW_MS = 10_000

/** The limits of a plane that overrides none. */
export const DEFAULT_JOB_LIMITS: JobLimitSettings = {
  limits: {
    run: { rate: 1000, concurrent: 200 },
    runsync: { rate: 2000, concurrent: 400 },
    status: { rate: 2000, concurrent: 400 },
    stream: { rate: 2000, concurrent: 400 },
    cancel: { rate: 100, concurrent: 20 },
    'purge-queue': { rate: 2, concurrent: null },
    openai: { rate: 2000, concurrent: 400 },
    requests: { rate: 10, concurrent: 2 },
    // RATE-31: every call has a limit, or one tenant could use the capacity of all others.
    health: { rate: 2000, concurrent: 400 },
    // Requests to the workers of a load-balancing endpoint (LB-10).
    'load-balancer': { rate: 2000, concurrent: 400 },
  },
  requestsPerWorker: 100,
}

/** The calls of one user to one operation of one endpoint. */
export interface Spending {
  /** Number of the window that `count` belongs to. */
  window: number
  count: number
  /** Calls in progress. */
  active: number
}

/** The limit that a call exceeds, and the wait until another call may start. */
export type LimitRefusal = { exceeded: 'rate' | 'concurrency'; limit: number; retryAfterSeconds: number }

/** The number of the window that contains an instant, which is in milliseconds since the epoch. */
export function windowOf(nowMs: number): number {
  return Math.floor(nowMs / JOB_WINDOW_MS)
}

/**
 * Decides whether one more call may start; null: it may. `floor`: the limit that running workers raise each limit to; 0 checks the base
 * limits alone. A call that is repeated in the next window (or, for concurrency, in a second) finds room if others have ended.
 */
export function judgeCall(spending: Spending, limit: JobLimit, floor: number, nowMs: number): LimitRefusal | null {
  const count = spending.window === windowOf(nowMs) ? spending.count : 0
  const rate = Math.max(limit.rate, floor)
  if (count >= rate) {
    const leftMs = JOB_WINDOW_MS - (nowMs % JOB_WINDOW_MS)
    return { exceeded: 'rate', limit: rate, retryAfterSeconds: Math.ceil(leftMs / 1000) }
  }
  if (limit.concurrent === null) return null
  const concurrent = Math.max(limit.concurrent, floor)
  return spending.active >= concurrent ? { exceeded: 'concurrency', limit: concurrent, retryAfterSeconds: 1 } : null
}

/** The error text of a 429. */
export function describeRefusal(bucket: LimitBucket, refusal: LimitRefusal): string {
  return refusal.exceeded === 'rate'
    ? `rate limit exceeded for /${bucket}: ${refusal.limit} requests per ${JOB_WINDOW_MS / 1000} seconds on this endpoint`
    : `too many /${bucket} requests at the same time on this endpoint: at most ${refusal.limit}`
}

/** The operator's overrides: `{"run": {"rate": 5000, "concurrent": 500}}`, every part optional. An invalid value leaves the default. */
export function readJobLimits(limitsJson: string, requestsPerWorker: string): JobLimitSettings {
  const given = parseObject(limitsJson)
  const limits = { ...DEFAULT_JOB_LIMITS.limits }
  for (const bucket of LIMIT_BUCKETS) {
    const override = asObject(given[bucket])
    const base = limits[bucket]
    limits[bucket] = {
      rate: positive(override.rate) ?? base.rate,
      concurrent: override.concurrent === null ? null : (positive(override.concurrent) ?? base.concurrent),
    }
  }
  const perWorker = Number(requestsPerWorker)
  const usable = requestsPerWorker.trim() !== '' && Number.isInteger(perWorker) && perWorker >= 0
  return { limits, requestsPerWorker: usable ? perWorker : DEFAULT_JOB_LIMITS.requestsPerWorker }
}

function parseObject(json: string): Record<string, unknown> {
  try {
    return asObject(JSON.parse(json))
  } catch {
    return {}
  }
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

function positive(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined
}
