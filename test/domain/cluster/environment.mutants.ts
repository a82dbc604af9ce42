import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'all users can read the SLURM key',
    file: 'src/domain/cluster/files.ts',
    find: 'const OWNER_ONLY = 0o400',
    replace: 'const OWNER_ONLY = 0o444',
  },
]
