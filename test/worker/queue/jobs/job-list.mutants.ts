import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a list of completed jobs scans the queue above them',
    file: 'durable-objects/endpoint/client/job-list.ts',
    find: 'return Math.max(completed, other?.seq ?? 0) + 1',
    replace: 'return EVERY_JOB.beforeSeq',
  },
  {
    id: 'a list of completed and failed jobs begins below a failed one',
    file: 'durable-objects/endpoint/client/job-list.ts',
    find: 'return Math.max(completed, other?.seq ?? 0) + 1',
    replace: 'return completed + 1',
  },
  {
    id: 'jobs that the previous release completed are not listed',
    file: 'durable-objects/endpoint/store/meta-store.ts',
    find: 'return newest?.completed === completed ? newest.seq : null',
    replace: 'return newest ? newest.seq : null',
  },
]
