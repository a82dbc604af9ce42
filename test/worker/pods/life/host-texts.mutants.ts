import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'S18: a host writes to the terminals of tenants',
    file: 'src/host-protocol/host-text.ts',
    find: "text.replace(UNSHOWN, ' ')",
    replace: "text.replace(UNSHOWN, '$&')",
  },
]
