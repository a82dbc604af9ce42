import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a container runs any number of commands',
    file: 'src/host-agent/docker/streams/exec.ts',
    find: 'if (open >= MAX_SESSIONS)',
    replace: 'if (open >= MAX_SESSIONS + 9)',
  },
]
