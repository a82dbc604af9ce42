import { RETENTION_DEFAULTS } from '../../contract/defaults.ts'
import type { EndpointConfig } from '../endpoint/record.ts'

/** LIM-13: the longest retention of a `/runsync` result that an explicit `wait` can cause. */
const MAX_WAIT_RETENTION_MS = 5 * 60_000
/** JOB-49: the rows of ended jobs are removed together, at multiples of a part of their retention within these bounds. */
const REMOVAL_PARTS = 10
const MIN_REMOVAL_STEP_MS = 1_000
const MAX_REMOVAL_STEP_MS = 5 * 60_000

/** The retention of a job's result after its end, milliseconds (LIM-4, LIM-13, LIM-14). `waitMs` is 0 without an explicit `wait`. */
export function retentionMs(override: EndpointConfig['retention'], sync: boolean, waitMs: number): number {
  if (!sync) return override?.runMs ?? RETENTION_DEFAULTS.run
  return Math.max(override?.runSyncMs ?? RETENTION_DEFAULTS.runSync, Math.min(MAX_WAIT_RETENTION_MS, waitMs))
}

/**
 * When the row of an ended job is removed, milliseconds (JOB-49): at the first multiple of a step at or after `overAtMs`, from which on it
 * is not shown. So one alarm removes many rows.
 */
export function removalAtMs(overAtMs: number, retentionMs: number): number {
  const stepMs = Math.min(MAX_REMOVAL_STEP_MS, Math.max(MIN_REMOVAL_STEP_MS, Math.floor(retentionMs / REMOVAL_PARTS)))
  return Math.ceil(overAtMs / stepMs) * stepMs
}
