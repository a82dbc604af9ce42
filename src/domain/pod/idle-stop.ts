import { formatTime } from '../../contract/timestamps.ts'
import { decideStop, isToRun, type PodChange, type PodState } from './pod.ts'

// A pod that is stopped when it does nothing. Pure: who does nothing, and since when, is told by its host's history (HIS-8).

const SECOND_MS = 1000

/** As a pod's specification keeps it. */
export interface IdleStop {
  afterSeconds: number
  /** What the pod did before it was asked for does not count. */
  countsFromMs: number
}

/** What a request makes of it: null clears, what is left out, or says the same, stays (SPD-5). */
export function planIdleStop(
  present: IdleStop | undefined,
  asked: { afterSeconds: number } | null | undefined,
  nowMs: number,
): IdleStop | undefined {
  if (asked === undefined) return present
  if (asked === null) return undefined
  return asked.afterSeconds === present?.afterSeconds ? present : { afterSeconds: asked.afterSeconds, countsFromMs: nowMs }
}

/** What of a pod is looked at. */
export type IdlePod = Pick<PodState, 'status' | 'hostLost' | 'locked' | 'startedAtMs'> & { spec: { idleStop?: IdleStop } }

/**
 * When a pod is stopped if it goes on doing nothing; null: not by this (SPD-6). `idleSinceMs`: since when its host sees it do nothing; null: it
 * does something, or nobody knows. A container that starts begins anew.
 */
export function idleStopDueMs({ status, locked, startedAtMs, spec: { idleStop } }: IdlePod, idleSinceMs: number | null): number | null {
  if (!idleStop || idleSinceMs === null || status !== 'RUNNING' || locked) return null
  return Math.max(idleSinceMs, startedAtMs ?? 0, idleStop.countsFromMs) + idleStop.afterSeconds * SECOND_MS
}

/** When to look at a pod again; null: when its row changes. One that does something now cannot have been idle for long enough earlier. */
export function nextIdleLookMs(pod: IdlePod, idleSinceMs: number | null, nowMs: number): number | null {
  const { idleStop } = pod.spec
  if (!idleStop || pod.locked || !isToRun(pod)) return null
  return idleStopDueMs(pod, idleSinceMs) ?? nowMs + idleStop.afterSeconds * SECOND_MS
}

/** Stops a pod that has done nothing for as long as it may (SPD-6); null: it has not. */
export function decideIdleStop<Pod extends PodState & IdlePod>(pod: Pod, idleSinceMs: number | null, nowMs: number): PodChange<Pod> | null {
  const dueMs = idleStopDueMs(pod, idleSinceMs)
  if (dueMs === null || idleSinceMs === null || dueMs > nowMs) return null
  return decideStop(pod, `stopped by idleStop: it had done nothing since ${formatTime(idleSinceMs)}`, nowMs)
}
