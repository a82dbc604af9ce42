import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'H2: names lead to private addresses',
    file: 'src/host-agent/pulls/egress.ts',
    find: 'addresses.find(({ address }) => !isPublicAddress(address))',
    replace: "addresses.find(({ address }) => address === '')",
  },
]
