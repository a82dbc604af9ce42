import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'PLACE-1: the rest of a page of the index is read from its beginning again',
    file: 'src/db/hosts/openings.ts',
    find: 'gte(vcpuFree, of.vcpus), behind, ...fits',
    replace: 'gte(vcpuFree, of.vcpus), ...fits',
  },
  {
    id: 'PLACE-1: hosts that hold workloads of other accounts are in no class',
    file: 'src/domain/host/openings.ts',
    find: '[ANY_TENANT, teamId].map',
    replace: '[ANY_TENANT].map',
  },
  {
    id: 'PLACE-1: a cordon leaves the index as it was',
    file: 'migrations/0024_openings.sql',
    find: 'AFTER UPDATE OF `status`, `cordoned_at`, `inventory`',
    replace: 'AFTER UPDATE OF `status`, `inventory`',
  },
]
