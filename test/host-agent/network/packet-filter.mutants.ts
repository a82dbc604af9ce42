import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'packet filter rules that were changed from outside stay changed',
    file: 'src/host-agent/network/maintained-tables.ts',
    find: 'if (shown === previous.shown) return',
    replace: 'if (shown !== undefined) return',
  },
]
