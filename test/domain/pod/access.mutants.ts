import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'http ports are public',
    file: 'src/domain/pod/access.ts',
    find: "port.type === 'http' ? sharedAddressOf(id) : publicIp",
    replace: 'publicIp',
  },
]
