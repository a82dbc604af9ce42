import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: "C2: labels of an image count as the agent's at any size",
    file: 'src/host-agent/docker/engine/client.ts',
    find: 'name.startsWith(OWN_LABELS) && value.length <= MAX_LABEL_CHARS',
    replace: 'name.startsWith(OWN_LABELS) || value.length <= MAX_LABEL_CHARS',
  },
]
