import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'falsy error fails the job',
    file: 'src/domain/job/worker-post.ts',
    find: 'if (!value) return null',
    replace: '',
  },
  {
    id: 'progress taken for a result',
    file: 'src/domain/job/worker-post.ts',
    find: "=== 'IN_PROGRESS') return",
    replace: "=== 'PROGRESS') return",
  },
  {
    id: 'any number of members',
    file: 'src/domain/job/submit.ts',
    find: 'if (shape.count > MAX_JSON_MEMBERS)',
    replace: 'if (false)',
  },
]
