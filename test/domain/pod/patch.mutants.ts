import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'PUBLIC_KEY of the user is overwritten',
    file: 'src/domain/pod/request/container.ts',
    find: '{ ...accessEnv, ...container.env }',
    replace: '{ ...container.env, ...accessEnv }',
  },
]
