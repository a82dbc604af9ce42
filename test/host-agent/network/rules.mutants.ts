import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'connections of one account fill the kernel table',
    file: 'src/host-agent/network/connection-bounds.ts',
    find: 'ct count over ${open / LISTS} } ${refuse}',
    replace: 'ct count over 0 } accept',
  },
]
