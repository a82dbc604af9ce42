import type { WorkerIn, WorkerPhase } from '../../../src/domain/worker/worker.ts'

const RETRIED = { nextAttemptAtMs: 0, attempts: 0 }
const OF_PHASE: { [P in WorkerPhase]: Partial<WorkerIn<P>> } = {
  PLACING: { ...RETRIED, hostId: null },
  STARTING: {},
  READY: { lastSeenAtMs: 0, lastTakeAtMs: 0, idleSinceMs: null, excusedUntilMs: null, loadedAtMs: null, watchedUntilMs: null },
  DRAINING: { ...RETRIED, lastSeenAtMs: 0, excusedUntilMs: null, loadedAtMs: null, watchedUntilMs: null },
  FAILED: { ...RETRIED, forgetAtMs: 0, released: false },
}

/** A worker in a phase, with the changes of a test. */
export function workerIn<P extends WorkerPhase>(phase: P, id: string, change: Partial<WorkerIn<P>> = {}): WorkerIn<P> {
  return {
    id,
    boot: 'b',
    version: 1,
    image: 'builtin/echo',
    gpuCount: 1,
    phase,
    hostId: 'h',
    gpuTypeId: null,
    dataCenterId: 'LOCAL-1',
    createdAtMs: 0,
    startedAtMs: 0,
    worked: false,
    reason: null,
    ...OF_PHASE[phase],
    ...change,
  } as unknown as WorkerIn<P>
}
