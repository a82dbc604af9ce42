import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'H6: a key is cached as it was written',
    file: 'src/domain/session/bearer.ts',
    find: "{ kind: 'NONE' } : { kind: 'KEY', text }",
    replace: "{ kind: 'NONE' } : { kind: 'KEY', text: authorization.slice(7) }",
  },
  {
    id: 'M3: unknown keys are looked up without a limit',
    file: 'src/services/credentials/key-callers.ts',
    find: 'return source === null ?',
    replace: "return source !== '' ?",
  },
  {
    id: 'S12: an assertion of an unknown host is looked up without a limit',
    file: 'src/services/hosts/host-enrolment.ts',
    find: 'const lookup = source === null ?',
    replace: 'const lookup = source !== null ?',
  },
]
