import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'max ignored',
    file: 'src/domain/worker/scaling.ts',
    find: 'const needed = Math.min(wanted, ceiling)',
    replace: 'const needed = wanted',
  },
  {
    id: 'back-off ignored',
    file: 'src/domain/worker/scaling.ts',
    find: 'const mayLaunch = inputs.nowMs >= inputs.launchNotBeforeMs',
    replace: 'const mayLaunch = true',
  },
  {
    id: 'idle workers stop below min',
    file: 'src/domain/worker/scaling.ts',
    find: '    if (left <= kept) break\n',
    replace: '',
  },
  {
    id: 'busy stale workers are stopped',
    file: 'src/domain/worker/scaling.ts',
    find: 'stale.filter(isIdle).map',
    replace: 'stale.map',
  },
]
