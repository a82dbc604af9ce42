import { RETENTION_DEFAULTS } from '../../contract/defaults.ts'
import type { EndpointConfig } from '../endpoint/record.ts'

/** LIM-13: the longest retention of a `/runsync` result that an explicit `wait` can cause. */
const MAX_WAIT_RETENTION_MS = 5 * 60_000

/** The retention of a job's result after its end, milliseconds (LIM-4, LIM-13, LIM-14). `waitMs` is 0 without an explicit `wait`. */
export function retentionMs(override: EndpointConfig['retention'], sync: boolean, waitMs: number): number {
  if (!sync) return override?.runMs ?? RETENTION_DEFAULTS.run
  return Math.max(override?.runSyncMs ?? RETENTION_DEFAULTS.runSync, Math.min(MAX_WAIT_RETENTION_MS, waitMs))
}
