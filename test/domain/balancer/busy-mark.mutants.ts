import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a worker of an older release waits after its last request',
    file: 'src/domain/balancer/busy-mark.ts',
    find: ' && worker.version === version',
    replace: '',
  },
  {
    id: 'a draining worker waits after its last request',
    file: 'src/domain/balancer/busy-mark.ts',
    find: "worker?.phase === 'READY' && worker.version === version",
    replace: 'worker?.version === version',
  },
]
