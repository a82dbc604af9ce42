import { badRequest, type Refusal } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { decideStop, decideTermination, isToRun, type PodChange, type PodState } from './pod.ts'

// Times at which the platform stops or terminates a pod by itself. Pure.

const SECOND_MS = 1000

/** The times of a pod, milliseconds since the epoch; null: never by itself. */
export interface Deadlines {
  stopAfterMs: number | null
  terminateAfterMs: number | null
}

/** The times as a request names them, RFC 3339: null clears, what is left out stays. */
export interface DeadlinesRequest {
  stopAfter?: string | null | undefined
  terminateAfter?: string | null | undefined
}

export const NO_DEADLINES: Deadlines = { stopAfterMs: null, terminateAfterMs: null }

/** What a request makes of a pod's times, or why it cannot (PP-250, PP-251). */
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

// Whole seconds: what is shown is what is kept (GEN-2).
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

/** What the platform looks at when the time of a pod has come. */
export type TimedPod = PodState & Deadlines

/** When the platform has to look at a pod next; null: never by itself. A locked pod waits for its unlocking, or for its end (PP-253). */
export function nextDeadlineMs({ status, locked, stopAfterMs, terminateAfterMs }: TimedPod): number | null {
  if (status === 'TERMINATED') return null
  const times = [locked ? null : stopAfterMs, terminateAfterMs].filter((time) => time !== null)
  return times.length > 0 ? Math.min(...times) : null
}

/**
 * What a pod's own times make of it now (PP-252 to PP-254); null: none has come. A stop that finds nothing to stop is over with that: a later
 * start is not undone by it.
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
