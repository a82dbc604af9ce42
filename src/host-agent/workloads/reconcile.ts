import type { RuntimeName, Workload } from '../../host-protocol/messages.ts'
import type { WorkloadRecord } from './records.ts'

/** How long a workload that the plane does not list may stay; the plane may be restoring an older state of its own. */
export const ORPHAN_MS = 300_000

/** The observed phase of a workload. */
export interface ActualWorkload {
  /**
   * `held`: it has ended and its container is retained. `removing`: its container is being removed.
   * `unknown`: its runtime does not answer at present, so nothing may be concluded.
   */
  phase: 'starting' | 'running' | 'stopping' | 'held' | 'removing' | 'unknown'
  runtime: RuntimeName | null
  /** Deadline of the grace period in ms, while stopping. */
  killAt?: number
}

/** One step towards the desired state. */
export type Action =
  /** `diskOf`: the workload whose writable layer the new one continues with. */
  | { type: 'start'; workload: Workload; diskOf: string | null }
  | { type: 'cancelStart'; id: string }
  | { type: 'stop'; id: string; graceMs: number }
  /** Removes its container and the named persistent volumes; reports it gone. */
  | { type: 'remove'; id: string; wipe: string[] }
  | { type: 'reportGone'; id: string }
  | { type: 'reportError'; id: string; reason: string }
  | { type: 'reportExited'; id: string; reason: string }
  | { type: 'noteAbsent'; id: string }
  | { type: 'notePresent'; id: string }

type Actual = ReadonlyMap<string, ActualWorkload>
type Records = ReadonlyMap<string, WorkloadRecord>

const VANISHED = 'disappeared from this host; it was removed externally'
const INTERRUPTED = 'the host agent was interrupted while it started this workload'
const CRASHED = 'the host agent ended twice while it started this workload, and does not retry'
/** A start that the end of an agent process interrupted is tried once more. */
const MAX_ATTEMPTS = 2
/** Why a workload that is to be held has no container, by its recorded state; null: its end is reported already. */
const HELD_WITHOUT_CONTAINER: Readonly<Record<WorkloadRecord['state'], string | null>> = {
  pulling: 'stopped before it was started',
  starting: INTERRUPTED,
  running: VANISHED,
  exited: null,
  error: null,
  gone: null,
}

/**
 * Compares desired and observed state and returns the actions for the difference. Level-triggered: the same inputs always give the same
 * actions, and none are left once these are carried out. A workload id whose record is beyond `pulling` is never started again.
 */
export function planActions(desired: readonly Workload[], actual: Actual, everStarted: Records, now: number): Action[] {
  const listed = new Set(desired.map((workload) => workload.id))
  const superseded = supersededIds(desired, actual)
  const wanted = desired.flatMap((workload) => {
    const record = everStarted.get(workload.id)
    const returned: Action[] = record !== undefined && record.absentSince !== null ? [{ type: 'notePresent', id: workload.id }] : []
    const action = planListed(superseded.has(workload.id) ? asStopped(workload) : workload, desired, actual, record, now)
    return action === undefined ? returned : [...returned, action]
  })
  const unlisted = [...everStarted.values()].filter((record) => !listed.has(record.id))
  return [...wanted, ...unlisted.flatMap((record) => planUnlisted(record, actual.get(record.id), now))]
}

/** Returns the workloads whose successor has started, so that its container has all of their data (HOST-52). */
function supersededIds(desired: readonly Workload[], actual: Actual): ReadonlySet<string> {
  const successors = desired.filter(({ id }) => hasRun(actual.get(id)))
  return new Set(successors.flatMap(({ replaces }) => replaces ?? []))
}

function hasRun(actual: ActualWorkload | undefined): boolean {
  return actual?.phase === 'running' || actual?.phase === 'stopping' || actual?.phase === 'held'
}

// The volumes belong to the successor.
function asStopped(workload: Workload): Workload {
  return { ...workload, desired: 'stopped', wipe: workload.desired === 'stopped' && workload.wipe === true }
}

function planListed(
  workload: Workload,
  desired: readonly Workload[],
  actual: Actual,
  record: WorkloadRecord | undefined,
  now: number,
): Action | undefined {
  const present = actual.get(workload.id)
  switch (workload.desired) {
    case 'running':
      return planRunning(workload, actual, record)
    case 'held':
      return planHeld(workload, present, record, now)
    case 'stopped':
      return planStopped(workload, present, record, now, volumesToWipe(workload, desired, actual))
  }
}

function planRunning(workload: Workload, actual: Actual, record: WorkloadRecord | undefined): Action | undefined {
  if (actual.has(workload.id)) return undefined
  switch (record?.state) {
    case undefined:
    case 'pulling':
      if ((record?.attempts ?? 0) >= MAX_ATTEMPTS) return { type: 'reportError', id: workload.id, reason: CRASHED }
      // Nothing is created while an image is pulled, so an interrupted pull is no start.
      return formersAreDown(workload, actual) ? { type: 'start', workload, diskOf: diskSource(workload, actual) } : undefined
    case 'starting':
      return { type: 'reportError', id: workload.id, reason: INTERRUPTED }
    case 'running':
      return { type: 'reportExited', id: workload.id, reason: VANISHED }
    case 'exited':
    case 'error':
    case 'gone':
      return undefined
  }
}

/**
 * Two containers of one pod never run at the same time; one that must start with an empty disk waits for the removal of the previous ones
 * (HOST-51).
 */
function formersAreDown({ replaces = [], keepDisk = false }: Workload, actual: Actual): boolean {
  return replaces.every((id) => !actual.has(id) || (keepDisk && actual.get(id)?.phase === 'held'))
}

/** Returns the newest replaced workload that has a container; null: none has, or the disk must not be kept. */
function diskSource({ replaces = [], keepDisk = false }: Workload, actual: Actual): string | null {
  return (keepDisk ? replaces.find((id) => actual.get(id)?.phase === 'held') : undefined) ?? null
}

function planHeld(
  workload: Workload,
  actual: ActualWorkload | undefined,
  record: WorkloadRecord | undefined,
  now: number,
): Action | undefined {
  if (actual !== undefined) return actual.phase === 'held' ? undefined : planDown(workload, actual, now)
  const reason = HELD_WITHOUT_CONTAINER[record?.state ?? 'pulling']
  return reason === null ? undefined : { type: 'reportExited', id: workload.id, reason }
}

function planStopped(
  workload: Workload,
  actual: ActualWorkload | undefined,
  record: WorkloadRecord | undefined,
  now: number,
  wipe: string[],
): Action | undefined {
  if (actual?.phase === 'held') return { type: 'remove', id: workload.id, wipe }
  if (actual !== undefined) return planDown(workload, actual, now)
  if (wipe.length > 0 && record?.wiped !== true) return { type: 'remove', id: workload.id, wipe }
  return record?.state === 'gone' ? undefined : { type: 'reportGone', id: workload.id }
}

/** Returns the action that stops a starting or running workload. */
function planDown({ id, stopGraceMs }: Workload, actual: ActualWorkload, now: number): Action | undefined {
  switch (actual.phase) {
    case 'starting':
      return { type: 'cancelStart', id }
    case 'running':
      return { type: 'stop', id, graceMs: stopGraceMs }
    case 'stopping':
      // The plane may shorten the grace period of a worker that it needs stopped.
      return now + stopGraceMs < (actual.killAt ?? 0) ? { type: 'stop', id, graceMs: stopGraceMs } : undefined
    case 'held':
    case 'removing':
    case 'unknown':
      return undefined
  }
}

/** Returns the persistent volumes to wipe with a workload. A volume that other workloads still have open is wiped with the last of them. */
function volumesToWipe(workload: Workload, desired: readonly Workload[], actual: Actual): string[] {
  if (workload.wipe !== true) return []
  const others = desired.filter(({ id }) => id !== workload.id && actual.has(id) && actual.get(id)?.phase !== 'held')
  const open = new Set(others.flatMap(persistentVolumes))
  return persistentVolumes(workload).filter((id) => !open.has(id))
}

function persistentVolumes({ mounts = [] }: Workload): string[] {
  return mounts.flatMap((mount) => (mount.kind === 'persistent' ? [mount.id] : []))
}

function planUnlisted(record: WorkloadRecord, actual: ActualWorkload | undefined, now: number): Action[] {
  if (actual === undefined && record.state === 'gone') return []
  if (record.absentSince === null) return [{ type: 'noteAbsent', id: record.id }]
  if (now - record.absentSince < ORPHAN_MS) return []
  switch (actual?.phase) {
    case undefined:
      return [{ type: 'reportGone', id: record.id }]
    case 'starting':
      return [{ type: 'cancelStart', id: record.id }]
    case 'running':
      return [{ type: 'stop', id: record.id, graceMs: 0 }]
    case 'held':
      return [{ type: 'remove', id: record.id, wipe: [] }]
    case 'stopping':
    case 'removing':
    case 'unknown':
      return []
  }
}
