import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'two containers of a pod are desired at once',
    file: 'src/domain/pod/workloads.ts',
    find: 'replaces: previous,',
    replace: 'replaces: previous.slice(1),',
  },
  {
    id: 'the disk that a pod needs next is removed',
    file: 'src/domain/pod/workloads.ts',
    find: "pod.keepsDisk ? 'held' : 'stopped'",
    replace: "'stopped'",
  },
  {
    id: 'a stopped pod runs on a host where it never was',
    file: 'src/domain/pod/workloads.ts',
    find: '!isToRun(pod) && !known.includes(pod.generation)',
    replace: 'false',
  },
  {
    id: 'a volume outlives its pod',
    file: 'src/domain/pod/workloads.ts',
    find: 'wipe: true })',
    replace: 'wipe: false })',
  },
]
