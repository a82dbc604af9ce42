import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'the search by name is not applied',
    file: 'src/db/pods/pod-filter.ts',
    find: "...(name === '' ? [] : [nameContains(pods.name, name)]),",
    replace: '',
  },
  {
    id: 'the counts have pods of other accounts',
    file: 'src/db/pods/pod-counts.ts',
    find: '.where(and(eq(pods.teamId, teamId), IS_LIVE, ...(withMembers ? [] : [isNull(pods.clusterId)])))',
    replace: '.where(and(IS_LIVE, ...(withMembers ? [] : [isNull(pods.clusterId)])))',
  },
  {
    id: 'a cursor is valid for another order',
    file: 'src/services/pods/pods.ts',
    find: '[JSON.stringify([status, name, sort])]',
    replace: '[JSON.stringify([status, name])]',
  },
]
