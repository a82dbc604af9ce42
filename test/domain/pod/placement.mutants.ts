import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a volume takes no disk space',
    file: 'src/domain/pod/place/placement.ts',
    find: 'container.diskGb + (mounts.persistent?.sizeGb ?? 0)',
    replace: 'container.diskGb',
  },
  {
    id: 'volumes of another data center are offered',
    file: 'src/domain/pod/place/placement.ts',
    find: 'dataCenterIds.includes(host.dataCenterId))',
    replace: 'host.online)',
  },
]
