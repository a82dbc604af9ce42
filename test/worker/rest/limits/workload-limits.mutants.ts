import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'S15: a pod spends the requests of its owner',
    file: 'src/domain/rate-limit.ts',
    find: "return caller.via === 'POD' ?",
    replace: "return caller.via === 'NONE' ?",
  },
  {
    id: 'S15: a user without requests left ends nothing',
    file: 'src/http/middleware/rate-limit.ts',
    find: 'first.verdict?.allowed === false && (await ends(c))',
    replace: 'first === undefined',
  },
]
