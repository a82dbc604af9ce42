import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'C3: a host receives all workloads in one message',
    file: 'durable-objects/host/workload-store.ts',
    find: 'if (bytes >= maxBytes) return { rows, more: true }',
    replace: 'if (bytes < 0) return { rows, more: true }',
  },
]
