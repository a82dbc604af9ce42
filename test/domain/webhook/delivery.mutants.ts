import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a webhook gets a fourth attempt',
    file: 'src/domain/webhook/delivery.ts',
    find: 'MAX_ATTEMPTS = 3',
    replace: 'MAX_ATTEMPTS = 4',
  },
  {
    id: 'a redirect counts as delivered',
    file: 'src/domain/webhook/delivery.ts',
    find: 'status < 300',
    replace: 'status < 400',
  },
]
