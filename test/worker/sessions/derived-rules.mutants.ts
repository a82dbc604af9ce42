import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'S4: what the operator key has made outlives its rotation',
    file: 'src/services/credentials/parents.ts',
    find: 'return id === (await digestOfOperatorKey(env))',
    replace: "return id !== '' || (await digestOfOperatorKey(env)) === id",
  },
  {
    id: 'S5: the key of a device outlives what its session came from',
    file: 'src/services/credentials/parents.ts',
    find: 'row.parent === null || ',
    replace: 'row.parent !== undefined || ',
  },
]
