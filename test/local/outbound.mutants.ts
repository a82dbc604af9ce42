import type { Mutant } from '../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'M7: webhooks reach the plane itself',
    file: 'src/local/plane/outbound.ts',
    find: 'isOwnPort(portOf(request.url)) ? NOTHING_PRIVATE : allow',
    replace: 'isOwnPort(0) ? NOTHING_PRIVATE : allow',
  },
]
