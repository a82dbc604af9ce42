import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a dead receiver takes every place',
    file: 'src/domain/webhook/slots.ts',
    find: 'isCrowded || held >= places',
    replace: 'isCrowded',
  },
]
