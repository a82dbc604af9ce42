import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a job is requeued while its host may still run it',
    file: 'src/host-protocol/silence.ts',
    find: 'Math.max(SILENCE_MIN_MS, Math.min(ranMs, maxMs))',
    replace: 'Math.min(ranMs, maxMs)',
  },
  {
    id: 'the host stops its work no sooner than the plane requeues it',
    file: 'src/host-protocol/silence.ts',
    find: 'silenceWaitMs(ranMs, maxMs) - HOST_AHEAD_MS',
    replace: 'silenceWaitMs(ranMs, maxMs) + 0 * HOST_AHEAD_MS',
  },
  {
    id: 'a host is lost a moment late',
    file: 'src/domain/host/presence.ts',
    find: 'return nowMs >= lostAtMs ?',
    replace: 'return nowMs > lostAtMs ?',
  },
]
