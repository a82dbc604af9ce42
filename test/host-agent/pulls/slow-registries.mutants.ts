import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'S11: a registry may send as slowly as it likes',
    file: 'src/host-agent/pulls/pull-pace.ts',
    find: 'if (bytes < (bytesPerMinute * windowMs) / MINUTE_MS)',
    replace: 'if (bytes < 0)',
  },
]
