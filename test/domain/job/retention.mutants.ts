import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a row is removed before its retention is over',
    file: 'src/domain/job/retention.ts',
    find: 'return Math.ceil(overAtMs / stepMs) * stepMs',
    replace: 'return Math.floor(overAtMs / stepMs) * stepMs',
  },
  {
    id: 'a row stays for a tenth of a week',
    file: 'src/domain/job/retention.ts',
    find: 'Math.min(MAX_REMOVAL_STEP_MS, Math.max(',
    replace: 'Math.min(Number.MAX_VALUE, Math.max(',
  },
]
