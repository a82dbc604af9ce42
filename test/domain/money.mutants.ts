import type { Mutant } from '../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'each part of an interval is rounded separately',
    file: 'src/domain/money.ts',
    find: 'toMs - startedAtMs) - amountMicros(nanosPerHour, fromMs - startedAtMs)',
    replace: 'toMs - fromMs)',
  },
]
