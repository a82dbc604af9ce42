import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'S6: every host is believed about every volume',
    file: 'src/db/resources/volume-hosts.ts',
    find: 'held.host_id = ${hostId} AND held.mounted_at IS NOT NULL)`',
    replace: '(1 OR held.host_id = ${hostId}))`',
  },
]
