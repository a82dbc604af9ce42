import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a stop of idle resources includes unknown ones',
    file: 'src/domain/plan/stop.ts',
    find: 'ms !== null && ms <= nowMs - idleForMs',
    replace: 'ms === null || ms <= nowMs - idleForMs',
  },
]
