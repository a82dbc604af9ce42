import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'the length of a chunked body is believed',
    file: 'src/domain/text/body-length.ts',
    find: " || headers.get('transfer-encoding') !== null",
    replace: '',
  },
]
