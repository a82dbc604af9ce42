import type { PodState } from '../../../src/domain/pod/pod.ts'

/** A pod that runs its third container since 1 000. */
export function makePod(change: Partial<PodState> = {}): PodState {
  const startedAtMs = change.status === undefined || change.status === 'RUNNING' ? 1_000 : null
  return {
    status: 'RUNNING',
    version: 7,
    generation: 3,
    keepsDisk: false,
    diskStale: false,
    hostLost: false,
    locked: false,
    statusReason: null,
    ports: [],
    startedAtMs,
    chargedFromMs: startedAtMs,
    diskChargedFromMs: null,
    diskNanosPerHour: 0,
    stoppedDiskNanosPerHour: 0,
    changedAtMs: 1_000,
    ...change,
  }
}
