import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'results that are too large complete without output',
    file: 'durable-objects/endpoint/worker/worker-posts.ts',
    find: "if (body.kind === 'refused') return failedResult(body.reason)",
    replace: "if (body.kind === 'refused') return { kind: 'result', output: undefined, error: null, stopWorker: false }",
  },
]
