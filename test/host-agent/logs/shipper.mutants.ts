import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'the keys of what is stopping come out',
    file: 'src/host-agent/logs/shipper.ts',
    find: " && workload.desired === 'running') stream",
    replace: ') stream',
  },
]
