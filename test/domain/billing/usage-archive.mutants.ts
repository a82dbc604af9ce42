import type { Mutant } from '../../support/mutant.ts'

const file = 'src/domain/billing/usage-archive.ts'

export const MUTANTS: readonly Mutant[] = [
  { id: 'a month moves as soon as it has ended', file, find: 'nowMs - MOVED_AFTER_MS', replace: 'nowMs' },
  { id: "another team's object is read", file, find: 'part.teamId === of.teamId && ', replace: '' },
  { id: 'an object with missing intervals is read', file, find: 'records.length === of.rows && ', replace: '' },
  {
    id: 'an archived interval within an hour is computed anew',
    file,
    find: 'if (!only || ',
    replace: 'if (only || !only || ',
  },
]
