import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'an interval that has not ended costs nothing',
    file: 'src/domain/billing/bill.ts',
    find: 'interval.endedAtMs ?? nowMs',
    replace: 'interval.endedAtMs ?? 0',
  },
  {
    id: 'a HIGH_PERFORMANCE volume counts twice',
    file: 'src/domain/billing/bill.ts',
    find: 'diskMicros: isFast ? 0 : diskMicros',
    replace: 'diskMicros',
  },
]
