import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a member starts before the others are ready',
    file: 'src/domain/cluster/life.ts',
    find: 'if (ready.length === waiting.length)',
    replace: 'if (ready.length > 0)',
  },
  {
    id: 'an answer to another question counts',
    file: 'src/domain/cluster/life.ts',
    find: 'report.check === check.number',
    replace: 'report.check <= check.number',
  },
  {
    id: 'a lost member outlives those that were given up',
    file: 'src/domain/cluster/life.ts',
    find: ' || hasFailed(member) || member.hostLost)',
    replace: ' || hasFailed(member))',
  },
  {
    id: 'a deleted cluster leaves members',
    file: 'src/domain/cluster/life.ts',
    find: 'if (cluster.isDeleted || live.length === 0)',
    replace: 'if (live.length === 0)',
  },
  {
    id: 'a cluster is forgotten before its hosts have removed it',
    file: 'src/domain/cluster/life.ts',
    find: 'return holdsHosts ? {',
    replace: 'return !holdsHosts ? {',
  },
]
