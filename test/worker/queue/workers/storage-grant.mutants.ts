import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'M8: a queue accepts what was not granted',
    file: 'durable-objects/endpoint/storage-grant.ts',
    find: 'if (bytes > this.leftBytes) return false',
    replace: 'if (bytes > this.leftBytes) return true',
  },
]
