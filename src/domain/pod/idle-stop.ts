import { formatTime } from '../../contract/timestamps.ts'
import { decideStop, isToRun, type PodChange, type PodState } from './pod.ts'

// Stopping idle pods. Pure: the history of the pod's host supplies since when the pod is idle (HIS-8).

const SECOND_MS = 1000

/** Idle stop as stored in a pod's specification. */
export interface IdleStop {
  afterSeconds: number
  /** Idle time before this instant, at which the setting was made, does not count. Milliseconds since the epoch. */
  countsFromMs: number
}

/** Idle stop after a request: null clears it; an absent or equal value leaves it unchanged (SPD-5). */
export function planIdleStop(
  present: IdleStop | undefined,
  asked: { afterSeconds: number } | null | undefined,
  nowMs: number,
): IdleStop | undefined {
  if (asked === undefined) return present
  if (asked === null) return undefined
  return asked.afterSeconds === present?.afterSeconds ? present : { afterSeconds: asked.afterSeconds, countsFromMs: nowMs }
}

/** Fields of a pod that decide about an idle stop. */
export type IdlePod = Pick<PodState, 'status' | 'hostLost' | 'locked' | 'startedAtMs'> & { spec: { idleStop?: IdleStop } }

/**
 * Instant at which a pod is stopped if it stays idle; null: it is not stopped for that (SPD-6). `idleSinceMs`: start of its idle time by
 * its host's history; null: it is busy, or unknown. Idle time restarts with the container.
 */
export function idleStopDueMs({ status, locked, startedAtMs, spec: { idleStop } }: IdlePod, idleSinceMs: number | null): number | null {
  if (!idleStop || idleSinceMs === null || status !== 'RUNNING' || locked) return null
  return Math.max(idleSinceMs, startedAtMs ?? 0, idleStop.countsFromMs) + idleStop.afterSeconds * SECOND_MS
}

/**
 * Next time to check a pod; null: only when its row changes. A pod that is busy at `nowMs` cannot become due before a full idle period has
 * passed.
 */
export function nextIdleCheckMs(pod: IdlePod, idleSinceMs: number | null, nowMs: number): number | null {
  const { idleStop } = pod.spec
  if (!idleStop || pod.locked || !isToRun(pod)) return null
  return idleStopDueMs(pod, idleSinceMs) ?? nowMs + idleStop.afterSeconds * SECOND_MS
}

/** Stops a pod that has been idle for its idle period (SPD-6); null: the period has not passed. */
export function decideIdleStop<Pod extends PodState & IdlePod>(pod: Pod, idleSinceMs: number | null, nowMs: number): PodChange<Pod> | null {
  const dueMs = idleStopDueMs(pod, idleSinceMs)
  if (dueMs === null || idleSinceMs === null || dueMs > nowMs) return null
  return decideStop(pod, `stopped by idleStop: idle since ${formatTime(idleSinceMs)}`, nowMs)
}
