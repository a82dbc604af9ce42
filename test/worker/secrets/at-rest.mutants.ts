import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'M4: variables are stored unencrypted',
    file: 'src/db/sealed-env.ts',
    find: 'if (Object.keys(env).length === 0)',
    replace: 'if (Object.keys(env).length >= 0)',
  },
  {
    id: 'L7: a previous secret opens nothing',
    file: 'src/platform/seal.ts',
    find: '...previous.filter(',
    replace: '...previous.slice(0, 0).filter(',
  },
]
