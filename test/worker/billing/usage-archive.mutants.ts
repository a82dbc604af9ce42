import type { Mutant } from '../../support/mutant.ts'

const statements = 'src/db/billing/usage-archives.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'rows are deleted although their object does not count',
    file: statements,
    find: '.where(and(areThose, isStored))',
    replace: '.where(areThose)',
  },
  {
    id: 'an object counts although its rows are gone',
    file: statements,
    find: "eq(usageArchives.state, 'WRITING'), areAllThere)",
    replace: "eq(usageArchives.state, 'WRITING'))",
  },
  {
    id: 'a bill does not notice that intervals move',
    file: 'src/db/billing/archived-usage.ts',
    find: 'if (!areSame(before, objects)) continue',
    replace: '',
  },
  {
    id: 'a release without the bucket answers a part of a bill',
    file: statements,
    find: 'raiseRemoval(db, MOVED, endedAtMs + 1,',
    replace: 'raiseRemoval(db, MOVED, 0,',
  },
  {
    id: 'the last row moves',
    file: 'src/db/billing/usage-removal.ts',
    find: ' AND usage.rowid < (SELECT MAX(rowid) FROM usage)',
    replace: '',
  },
  {
    id: 'each late interval gets an object',
    file: statements,
    find: ' AND a.changed_at > ${waitSinceMs}',
    replace: ' AND FALSE',
  },
]
