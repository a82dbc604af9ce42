import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a container gets a volume without its guarded view',
    file: 'src/host-agent/mounts/guarded-view.ts',
    find: "await run('mount', ['-o', `remount,bind,${WANTED.join(',')}`, view])",
    replace: '',
  },
]
