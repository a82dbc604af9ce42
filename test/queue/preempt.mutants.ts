import type { Mutant } from '../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'an account reads which other account took its place',
    file: 'src/queue/workers/preempt.ts',
    find: "seeker.own ? `preempted by endpoint ${seeker.endpointId}` : 'preempted by another account'",
    replace: '`preempted by endpoint ${seeker.endpointId}`',
  },
]
