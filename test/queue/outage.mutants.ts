import type { Mutant } from '../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'hosts get no time to return after an absence of the plane',
    file: 'src/queue/deadlines.ts',
    find: 'Math.max(silenceLimitMs(state), SILENCE_MIN_MS)',
    replace: 'silenceLimitMs(state)',
  },
  {
    id: 'an outage counts as silence',
    file: 'src/queue/deadlines.ts',
    find: 'return armed !== null && nowMs - armed >= OUTAGE_INTERVALS',
    replace: 'return armed === 0 && nowMs - armed >= OUTAGE_INTERVALS',
  },
]
