import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'redirects of a webhook are followed',
    file: 'durable-objects/webhook/post.ts',
    find: "redirect: 'manual'",
    replace: "redirect: 'follow'",
  },
]
