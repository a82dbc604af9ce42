import type { Worker } from '../worker/worker.ts'

/**
 * How long a worker without requests is still stored as busy, milliseconds. Each change is a write that the endpoint's next answers wait
 * for, and a worker with short requests would cause two for every request.
 */
export const BUSY_AFTER_MS = 1_000

/**
 * LB-24: whether a worker whose last request has ended stays marked as busy for a while. A worker that is to end does
 * not, because it ends with its last request (LB-17). `version`: the current release. Pure.
 */
export function staysBusy(worker: Pick<Worker, 'phase' | 'version'> | null, version: number): boolean {
  return worker?.phase === 'READY' && worker.version === version
}
