import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a request that lost its claim still writes',
    file: 'src/db/idempotency.ts',
    find: "{ ...name, teamId: sql`COALESCE(${mine}, ${refuse('claim')})`, claim,",
    replace: '{ ...name, claim,',
  },
]
