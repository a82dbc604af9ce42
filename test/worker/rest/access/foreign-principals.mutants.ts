import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: "C1: another account's endpoint is deleted",
    file: 'src/db/endpoints/endpoints.ts',
    find: '.where(and(eq(endpoints.teamId, teamId), eq(endpoints.id, id)))',
    replace: '.where(eq(endpoints.id, id))',
  },
  {
    id: 'M6: an unknown id becomes an object',
    file: 'src/objects/ownership/own.ts',
    find: 'if (!(await hasOrHadEndpoint(openDatabase(env.DB), owner.teamId, id))) throw',
    replace: 'if ((await hasOrHadEndpoint(openDatabase(env.DB), owner.teamId, id)) === null) throw',
  },
]
