import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'every account reads private templates',
    file: 'src/db/resources/templates.ts',
    find: ', eq(templates.isPublic, true))))',
    replace: ', eq(templates.id, id))))',
  },
]
