import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'one call too many in a window',
    file: 'src/domain/job/limits.ts',
    find: 'if (count >= rate)',
    replace: 'if (count > rate)',
  },
  {
    id: 'one call too many at a time',
    file: 'src/domain/job/limits.ts',
    find: 'spending.active >= concurrent',
    replace: 'spending.active > concurrent',
  },
]
