import type { Worker, WorkerPhase } from '../../src/domain/worker/worker.ts'

/** A worker in a phase, with whatever a test wants to be different. */
export function workerIn(phase: WorkerPhase, id: string, change: Partial<Worker> = {}): Worker {
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
    lastSeenAtMs: 0,
    idleSinceMs: null,
    reason: null,
    nextAttemptAtMs: 0,
    attempts: 0,
    forgetAtMs: null,
    released: false,
    lastTakeAtMs: null,
    excusedUntilMs: null,
    ...change,
  }
}
