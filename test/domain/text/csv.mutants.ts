import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a CSV cell is a formula',
    file: 'src/domain/text/csv.ts',
    find: "? `'${cell}` : cell",
    replace: '? cell : cell',
  },
]
