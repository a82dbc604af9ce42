/**
 * Delivery of one notification to a receiver: up to three attempts, ten seconds apart (HOOK-4). Pure: the time is passed as `nowMs`,
 * milliseconds since the epoch. An attempt that a restart interrupted is repeated and not counted as a failure, because its outcome is
 * unknown.
 */

/** State of a webhook delivery. */
export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED'

/** Outcome of an attempt: the receiver's status, or why there is none. */
export type AttemptOutcome = { status: number } | { error: string }

/** An ended attempt. */
export type Attempt = AttemptOutcome & {
  /** Start of the attempt, milliseconds since the epoch. */
  atMs: number
  durationMs: number
}

/** A notification and its attempts (HOOK-4, HOOK-13). */
export interface DeliveryState {
  status: DeliveryStatus
  /** Ended attempts, oldest first; at most the latest `MAX_KEPT_ATTEMPTS`. */
  attempts: readonly Attempt[]
  /** Failed attempts since the notification was created or redelivered. */
  failures: number
  /** Interrupted attempts since the same instant. */
  interruptions: number
  /** Earliest start of the next attempt; null once the delivery is over. */
  nextAtMs: number | null
  /** Start of the attempt in progress, or null. */
  startedAtMs: number | null
}

/** HOOK-4. */
export const MAX_ATTEMPTS = 3
export const RETRY_DELAY_MS = 10_000
/** Timeout for connection and response headers, milliseconds. */
export const ATTEMPT_TIMEOUT_MS = 10_000
/** Number of interruptions that do not count as failures. Further ones do, because the attempt itself may crash the plane. */
const MAX_INTERRUPTIONS = 3
const MAX_KEPT_ATTEMPTS = 30
/** Time during which a rotated signing secret still signs, beside its successor (HOOK-8). */
export const SECRET_OVERLAP_MS = 24 * 3600 * 1000

/** A delivery whose first attempt is due at once. */
export function newDelivery(nowMs: number): DeliveryState {
  return { status: 'PENDING', attempts: [], failures: 0, interruptions: 0, nextAtMs: nowMs, startedAtMs: null }
}

/** Records that an attempt is under way, so that a restart finds it interrupted. */
export function startAttempt(delivery: DeliveryState, nowMs: number): DeliveryState {
  return { ...delivery, startedAtMs: nowMs }
}

/** HOOK-5: any 2xx is success; a redirect, any other status and any error are failures. The delay counts from the end of the attempt. */
export function endAttempt(delivery: DeliveryState, outcome: AttemptOutcome, nowMs: number): DeliveryState {
  const ended = record(delivery, outcome, nowMs)
  if ('status' in outcome && isSuccess(outcome.status)) return { ...ended, status: 'DELIVERED', nextAtMs: null }
  return fail(ended, nowMs + RETRY_DELAY_MS)
}

/**
 * Ends an attempt that a restart of the plane interrupted. It is repeated at once; the receiver recognizes the repeat by its `webhook-id`.
 */
export function interruptAttempt(delivery: DeliveryState, nowMs: number): DeliveryState {
  const ended = record(delivery, { error: 'interrupted by a restart of the plane; repeated' }, nowMs)
  if (delivery.interruptions >= MAX_INTERRUPTIONS) return fail(ended, nowMs + RETRY_DELAY_MS)
  return { ...ended, interruptions: delivery.interruptions + 1, nextAtMs: nowMs }
}

/** Starts three fresh attempts of a finished delivery. */
export function redeliver(delivery: DeliveryState, nowMs: number): DeliveryState {
  return { ...delivery, status: 'PENDING', failures: 0, interruptions: 0, nextAtMs: nowMs, startedAtMs: null }
}

/** Ends a delivery without an attempt, with the reason in its log. */
export function refuseDelivery(delivery: DeliveryState, reason: string, nowMs: number): DeliveryState {
  return { ...record(delivery, { error: reason }, nowMs), status: 'FAILED', nextAtMs: null }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

function record(delivery: DeliveryState, outcome: AttemptOutcome, nowMs: number): DeliveryState {
  const atMs = delivery.startedAtMs ?? nowMs
  const attempt = { ...outcome, atMs, durationMs: Math.max(0, nowMs - atMs) }
  return { ...delivery, attempts: [...delivery.attempts, attempt].slice(-MAX_KEPT_ATTEMPTS), startedAtMs: null }
}

function fail(delivery: DeliveryState, retryAtMs: number): DeliveryState {
  const failures = delivery.failures + 1
  if (failures >= MAX_ATTEMPTS) return { ...delivery, failures, status: 'FAILED', nextAtMs: null }
  return { ...delivery, failures, nextAtMs: retryAtMs }
}

/** Signing secrets of a team: the current one and, for `SECRET_OVERLAP_MS` after a rotation, the previous one. */
export interface SigningSecrets {
  current: string
  previous: { secret: string; untilMs: number } | null
}

/** Replaces the current secret; a previous secret that is still in its overlap is dropped. */
export function rotateSecrets(secrets: SigningSecrets, fresh: string, nowMs: number): SigningSecrets {
  return { current: fresh, previous: { secret: secrets.current, untilMs: nowMs + SECRET_OVERLAP_MS } }
}

/** Secrets that sign at `nowMs`, the current one first (HOOK-8). */
export function signingSecrets(secrets: SigningSecrets, nowMs: number): string[] {
  const previous = secrets.previous && nowMs < secrets.previous.untilMs ? [secrets.previous.secret] : []
  return [secrets.current, ...previous]
}
