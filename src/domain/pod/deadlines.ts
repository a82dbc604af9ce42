import { badRequest, type Refusal } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { decideStop, decideTermination, isToRun, type PodChange, type PodState } from './pod.ts'

// Deadlines at which the platform stops or terminates a pod. Pure.

const SECOND_MS = 1000

/** Deadlines of a pod, milliseconds since the epoch; null: none. */
export interface Deadlines {
  stopAfterMs: number | null
  terminateAfterMs: number | null
}

/** Deadlines in a request, RFC 3339: null clears a deadline, an absent field leaves it unchanged. */
export interface DeadlinesRequest {
  stopAfter?: string | null | undefined
  terminateAfter?: string | null | undefined
}

export const NO_DEADLINES: Deadlines = { stopAfterMs: null, terminateAfterMs: null }

/** Deadlines of a pod after a request, or why the request is refused (POD-60, POD-61). */
export function planDeadlines(
  present: Deadlines,
  { stopAfter, terminateAfter }: DeadlinesRequest,
  nowMs: number,
): { ok: true; deadlines: Deadlines } | { ok: false; problem: Refusal } {
  const next = { stopAfterMs: timeOr(stopAfter, present.stopAfterMs), terminateAfterMs: timeOr(terminateAfter, present.terminateAfterMs) }
  const problem =
    refusePast('stopAfter', stopAfter, next.stopAfterMs, nowMs) ??
    refusePast('terminateAfter', terminateAfter, next.terminateAfterMs, nowMs) ??
    refuseOrder(next)
  return problem ? { ok: false, problem } : { ok: true, deadlines: next }
}

// Deadlines are rounded down to whole seconds, so that the stored value is the one that is shown (GEN-2).
function timeOr(text: string | null | undefined, present: number | null): number | null {
  if (text === undefined) return present
  return text === null ? null : Math.floor(Date.parse(text) / SECOND_MS) * SECOND_MS
}

function refusePast(name: string, text: string | null | undefined, timeMs: number | null, nowMs: number): Refusal | null {
  if (typeof text !== 'string' || timeMs === null || timeMs > nowMs) return null
  return badRequest(`${name} must be later than now, which is ${formatTime(nowMs)}`)
}

function refuseOrder({ stopAfterMs, terminateAfterMs }: Deadlines): Refusal | null {
  if (stopAfterMs === null || terminateAfterMs === null || terminateAfterMs > stopAfterMs) return null
  return badRequest('terminateAfter must be later than stopAfter; leave stopAfter out, or send null, to terminate the pod at once')
}

/** Fields of a pod that decide what happens at its deadlines. */
export type TimedPod = PodState & Deadlines

/**
 * Next deadline of a pod, milliseconds since the epoch; null: none. The stop of a locked pod waits until it is unlocked or terminated
 * (POD-63).
 */
export function nextDeadlineMs({ status, locked, stopAfterMs, terminateAfterMs }: TimedPod): number | null {
  if (status === 'TERMINATED') return null
  const times = [locked ? null : stopAfterMs, terminateAfterMs].filter((time) => time !== null)
  return times.length > 0 ? Math.min(...times) : null
}

/**
 * Change that a pod's deadlines cause at `nowMs` (POD-62 to POD-64); null: none is due. A stop deadline of a pod that does not run is
 * cleared, so that it does not stop the pod after a later start.
 */
export function decideDeadline<Pod extends TimedPod>(pod: Pod, nowMs: number): PodChange<Pod> | null {
  const dueMs = nextDeadlineMs(pod)
  if (dueMs === null || dueMs > nowMs) return null
  if (pod.terminateAfterMs !== null && pod.terminateAfterMs <= nowMs) {
    return withMore(decideTermination(pod, `terminated by terminateAfter ${formatTime(pod.terminateAfterMs)}`, nowMs), NO_DEADLINES)
  }
  if (!isToRun(pod)) return { pod: { ...pod, stopAfterMs: null, version: pod.version + 1 }, usage: null }
  return withMore(decideStop(pod, `stopped by stopAfter ${formatTime(dueMs)}`, nowMs), { stopAfterMs: null })
}

function withMore<Pod extends TimedPod>({ pod, usage }: PodChange<Pod>, more: Partial<Deadlines>): PodChange<Pod> {
  return { pod: { ...pod, ...more }, usage }
}
