import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'SHR-41: one person keeps all disks of machines by stopped pods',
    file: 'src/db/pods/pods.ts',
    find: 'diskShare: withinDiskShare(teamId, hostId, { id: pod.id, diskGb }),',
    replace: 'diskShare: sql`TRUE`,',
  },
]
