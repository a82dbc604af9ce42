import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'RATE-33: all calls begin at once',
    file: 'src/platform/at-once.ts',
    find: 'Math.min(atOnce, items.length)',
    replace: 'items.length',
  },
  {
    id: 'RATE-33: calls go on after a failure',
    file: 'src/platform/at-once.ts',
    find: 'if (hasFailed) return',
    replace: '',
  },
  {
    id: 'RATE-33: results come in the order in which calls end',
    file: 'src/platform/at-once.ts',
    find: 'results[at] = await call(item)',
    replace: 'results.push(await call(item))\n        void at',
  },
]
