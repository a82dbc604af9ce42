import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'M5: a stream outlives its key',
    file: 'src/http/watched/watched-stream.ts',
    find: '(good) => good || ending.abort(),',
    replace: '() => undefined,',
  },
  {
    id: 'M10: a suspended account continues',
    file: 'src/services/credentials/key-callers.ts',
    find: 'if (verdict.isSuspended) return',
    replace: 'if (verdict.isSuspended && nowMs < 0) return',
  },
]
