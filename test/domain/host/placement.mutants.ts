import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'cordoned hosts get workers',
    file: 'src/domain/host/placement.ts',
    find: "if (host.cordoned) failed.push('schedulable: yes > cordoned')",
    replace: '',
  },
  {
    id: 'a required runtime class counts for containers of any class',
    file: 'src/domain/host/placement.ts',
    find: 'wanted === undefined || wanted === found',
    replace: "wanted === undefined || found !== 'none'",
  },
  {
    id: 'memory not compared',
    file: 'src/domain/host/placement.ts',
    find: 'if (shape.memoryMb > host.memoryMbFree)',
    replace: 'if (false)',
  },
  {
    id: 'disk off by one',
    file: 'src/domain/host/placement.ts',
    find: 'request.diskGb > host.diskGbFree',
    replace: 'request.diskGb > host.diskGbFree + 1',
  },
  {
    id: 'offline hosts get workers',
    file: 'src/domain/host/placement.ts',
    find: "if (!host.online) failed.push('status: ONLINE > OFFLINE')",
    replace: '',
  },
]
