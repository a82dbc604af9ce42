import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a template shows a credential to others',
    file: 'src/domain/resources/template.ts',
    find: 'container: { ...rest, registry: null } }',
    replace: 'container: rest }',
  },
]
