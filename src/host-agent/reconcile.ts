import type { Workload } from '../host-protocol/messages.ts'
import type { RuntimeName } from './runtime.ts'
import type { WorkloadRecord } from './workload-records.ts'

/** How long a workload that the plane does not list may stay; the plane may be restoring an older state of its own. */
export const ORPHAN_MS = 300_000

/** What runs, or is about to, as the agent sees it now. */
export interface ActualWorkload {
  /** `unknown`: belongs to a runtime that does not answer at present, so nothing may be concluded. */
  phase: 'starting' | 'running' | 'stopping' | 'unknown'
  runtime: RuntimeName | null
  /** While stopping: when the grace ends. */
  killAt?: number
}

export type Action =
  | { type: 'start'; workload: Workload }
  | { type: 'cancelStart'; id: string }
  | { type: 'stop'; id: string; graceMs: number }
  | { type: 'reportGone'; id: string }
  | { type: 'reportError'; id: string; reason: string }
  | { type: 'reportVanished'; id: string }
  | { type: 'noteAbsent'; id: string }
  | { type: 'notePresent'; id: string }

type Actual = ReadonlyMap<string, ActualWorkload>
type Records = ReadonlyMap<string, WorkloadRecord>

/**
 * Compares a snapshot with what is, by level: the same inputs give the same actions however often it is asked, and
 * carrying them out leads to none. A workload id with a record beyond `pulling` is never started again.
 */
export function planActions(desired: readonly Workload[], actual: Actual, everStarted: Records, now: number): Action[] {
  const listed = new Set(desired.map((workload) => workload.id))
  const wanted = desired.flatMap((workload) => planListed(workload, actual.get(workload.id), everStarted.get(workload.id), now))
  const unlisted = [...everStarted.values()].filter((record) => !listed.has(record.id))
  return [...wanted, ...unlisted.flatMap((record) => planUnlisted(record, actual.get(record.id), now))]
}

function planListed(workload: Workload, actual: ActualWorkload | undefined, record: WorkloadRecord | undefined, now: number): Action[] {
  const returned: Action[] = record !== undefined && record.absentSince !== null ? [{ type: 'notePresent', id: workload.id }] : []
  const action = workload.desired === 'running' ? planRunning(workload, actual, record) : planStopped(workload, actual, record, now)
  return action === undefined ? returned : [...returned, action]
}

function planRunning(workload: Workload, actual: ActualWorkload | undefined, record: WorkloadRecord | undefined): Action | undefined {
  if (actual !== undefined) return undefined
  switch (record?.state) {
    case undefined:
    case 'pulling':
      // Nothing is created while an image is pulled, so a start that ended there did not happen.
      return { type: 'start', workload }
    case 'starting':
      return { type: 'reportError', id: workload.id, reason: 'the host agent was interrupted while it started this' }
    case 'running':
      return { type: 'reportVanished', id: workload.id }
    case 'exited':
    case 'error':
    case 'gone':
      return undefined
  }
}

function planStopped(
  workload: Workload,
  actual: ActualWorkload | undefined,
  record: WorkloadRecord | undefined,
  now: number,
): Action | undefined {
  switch (actual?.phase) {
    case undefined:
      return record?.state === 'gone' ? undefined : { type: 'reportGone', id: workload.id }
    case 'starting':
      return { type: 'cancelStart', id: workload.id }
    case 'running':
      return { type: 'stop', id: workload.id, graceMs: workload.stopGraceMs }
    case 'stopping':
      // The plane shortens the grace of a worker that it must be rid of.
      return now + workload.stopGraceMs < (actual.killAt ?? 0)
        ? { type: 'stop', id: workload.id, graceMs: workload.stopGraceMs }
        : undefined
    case 'unknown':
      return undefined
  }
}

function planUnlisted(record: WorkloadRecord, actual: ActualWorkload | undefined, now: number): Action[] {
  if (actual === undefined && record.state === 'gone') return []
  if (record.absentSince === null) return [{ type: 'noteAbsent', id: record.id }]
  if (now - record.absentSince < ORPHAN_MS || actual?.phase === 'stopping' || actual?.phase === 'unknown') return []
  if (actual === undefined) return [{ type: 'reportGone', id: record.id }]
  return actual.phase === 'starting' ? [{ type: 'cancelStart', id: record.id }] : [{ type: 'stop', id: record.id, graceMs: 0 }]
}
