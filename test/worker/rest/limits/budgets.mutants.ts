import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'H5: releases are stored for ever',
    file: 'src/db/endpoints/endpoints.ts',
    find: "const oldest = sql`${version} - ${boundOf(teamId, 'releasesPerEndpoint')}`",
    replace: 'const oldest = sql`0`',
  },
]
