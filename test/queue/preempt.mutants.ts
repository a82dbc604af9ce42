import type { Mutant } from '../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'an account reads which other account took its place',
    file: 'src/queue/workers/preempt.ts',
    find: "asker.own ? `preempted by endpoint ${asker.endpointId}` : 'preempted by another account'",
    replace: '`preempted by endpoint ${asker.endpointId}`',
  },
]
