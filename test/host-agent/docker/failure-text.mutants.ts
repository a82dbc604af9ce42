import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'S17: texts of the engine reach tenants',
    file: 'src/host-agent/docker/engine/failure-text.ts',
    find: '  return UNKNOWN_FAILURE\n',
    replace: '  return text\n',
  },
]
