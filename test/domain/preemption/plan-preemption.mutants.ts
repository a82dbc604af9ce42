import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'an account below its share is preempted',
    file: 'src/domain/preemption/plan-preemption.ts',
    find: 'shareOf(giver) * accounts > 1 && ',
    replace: '',
  },
  {
    id: 'an account above its share gets more',
    file: 'src/domain/preemption/plan-preemption.ts',
    find: ' && shareOf(seeker) * accounts < 1',
    replace: '',
  },
  {
    id: 'an endpoint gives more workers than it can spare',
    file: 'src/domain/preemption/plan-preemption.ts',
    find: '    spare.set(allocation.ownerId, budget - 1)\n',
    replace: '    spare.set(allocation.ownerId, budget)\n',
  },
  {
    id: 'a text names other accounts',
    file: 'src/domain/preemption/holders-text.ts',
    find: 'const own = allocations.filter((allocation) => allocation.teamId === teamId)',
    replace: 'const own = [...allocations]',
  },
]
