/**
 * One notification on its way to a receiver: up to three attempts, ten seconds apart (HOOK-4). Pure: the time comes in as `nowMs`,
 * milliseconds. An attempt that a restart cut off is repeated and not counted, because nobody knows what became of it.
 */

export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED'

/** What came of an attempt: the receiver's status, or why there is none. */
export type AttemptOutcome = { status: number } | { error: string }

export type Attempt = AttemptOutcome & {
  /** When it started. */
  atMs: number
  durationMs: number
}

export interface DeliveryState {
  status: DeliveryStatus
  /** Every attempt that has ended, oldest first; the latest `MAX_KEPT_ATTEMPTS`. */
  attempts: readonly Attempt[]
  /** Failed attempts since the notification came or was asked for again. */
  failures: number
  /** Attempts cut off since then. */
  interruptions: number
  /** When the next attempt may start; null once the delivery is over. */
  nextAtMs: number | null
  /** Start of the attempt under way, or null. */
  startedAtMs: number | null
}

/** HOOK-4. */
export const MAX_ATTEMPTS = 3
export const RETRY_DELAY_MS = 10_000
/** Time for connection and response headers, milliseconds. */
export const ATTEMPT_TIMEOUT_MS = 10_000
/** An attempt that is cut off this often counts from then on: it may be what brings the plane down. */
const MAX_INTERRUPTIONS = 3
const MAX_KEPT_ATTEMPTS = 30
/** A rotated signing secret goes on signing for this long, beside its successor (HOOK-8). */
export const SECRET_OVERLAP_MS = 24 * 3600 * 1000

export function newDelivery(nowMs: number): DeliveryState {
  return { status: 'PENDING', attempts: [], failures: 0, interruptions: 0, nextAtMs: nowMs, startedAtMs: null }
}

export function startAttempt(delivery: DeliveryState, nowMs: number): DeliveryState {
  return { ...delivery, startedAtMs: nowMs }
}

/** HOOK-5: any 2xx is success; a redirect, every other status and every error are failures. The delay counts from the end. */
export function endAttempt(delivery: DeliveryState, outcome: AttemptOutcome, nowMs: number): DeliveryState {
  const ended = record(delivery, outcome, nowMs)
  if ('status' in outcome && isSuccess(outcome.status)) return { ...ended, status: 'DELIVERED', nextAtMs: null }
  return fail(ended, nowMs + RETRY_DELAY_MS)
}

/** The plane went away during the attempt. It is repeated at once; the receiver knows a repeat by its `webhook-id`. */
export function interruptAttempt(delivery: DeliveryState, nowMs: number): DeliveryState {
  const ended = record(delivery, { error: 'interrupted by a restart of the plane; repeated' }, nowMs)
  if (delivery.interruptions >= MAX_INTERRUPTIONS) return fail(ended, nowMs + RETRY_DELAY_MS)
  return { ...ended, interruptions: delivery.interruptions + 1, nextAtMs: nowMs }
}

/** Three fresh attempts of a delivery that is over. */
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

/** The signing secrets of a team: the present one and, for `SECRET_OVERLAP_MS` after a rotation, the one before. */
export interface SigningSecrets {
  current: string
  previous: { secret: string; untilMs: number } | null
}

/** Replaces the present secret; a secret that was still in its overlap is dropped. */
export function rotateSecrets(secrets: SigningSecrets, fresh: string, nowMs: number): SigningSecrets {
  return { current: fresh, previous: { secret: secrets.current, untilMs: nowMs + SECRET_OVERLAP_MS } }
}

/** The secrets that sign at this moment, the present one first (HOOK-8). */
export function signingSecrets(secrets: SigningSecrets, nowMs: number): string[] {
  const previous = secrets.previous && nowMs < secrets.previous.untilMs ? [secrets.previous.secret] : []
  return [secrets.current, ...previous]
}
