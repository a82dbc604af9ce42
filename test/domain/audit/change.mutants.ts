import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'an audit row shows values of variables',
    file: 'src/domain/audit/change.ts',
    find: '[ENV_PREFIX + name, digest(name, value)]',
    replace: '[ENV_PREFIX + name, value]',
  },
]
