import {
  LOG_BATCH_LINES,
  LOG_BATCH_WAIT_MS,
  LOG_REQUEST_BATCHES,
  type LogAccess,
  type LogBatch,
  type LogLine,
} from '../../host-protocol/logs.ts'

/** Maximum size of one request, bytes of JSON; the plane refuses a body of twice that. */
export const REQUEST_BYTES = 512 * 1024

/** Milliseconds until lines that wait since `sinceMs` are due: 0 when a batch is full, otherwise one second after the first line. */
export function batchDueInMs(pendingLines: number, sinceMs: number, nowMs: number): number {
  if (pendingLines >= LOG_BATCH_LINES) return 0
  return Math.max(0, sinceMs + LOG_BATCH_WAIT_MS - nowMs)
}

/** Unsent lines of one workload, oldest first. */
export interface Pending {
  workloadId: string
  access: LogAccess
  lines: readonly LogLine[]
}

/** Batches for one request, in the given order, within the limits of batches, lines and bytes. The first line always fits. */
export function composeBatches(pending: readonly Pending[]): LogBatch[] {
  const batches: LogBatch[] = []
  let room = REQUEST_BYTES
  for (const { workloadId, access, lines } of pending) {
    if (batches.length >= LOG_REQUEST_BATCHES) break
    const taken: LogLine[] = []
    for (const line of lines.slice(0, LOG_BATCH_LINES)) {
      const bytes = Buffer.byteLength(JSON.stringify(line))
      if (bytes > room) break
      room -= bytes
      taken.push(line)
    }
    if (taken.length > 0) batches.push({ workloadId, access, lines: taken })
  }
  return batches
}
