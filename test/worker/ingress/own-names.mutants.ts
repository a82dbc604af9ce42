import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: "S7: a pod is served below the plane's own address",
    file: 'src/http/ingress/handle-port-call.ts',
    find: 'if (elsewhere !== null)',
    replace: "if (elsewhere === 'never')",
  },
]
