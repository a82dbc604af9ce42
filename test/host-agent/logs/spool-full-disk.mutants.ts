import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'an acknowledgement removes lines that were written late to a full disk',
    file: 'src/host-agent/logs/spool.ts',
    find: 'this.segments = this.segments.filter((unwritten) => unwritten.path !== path)',
    replace: '',
  },
]
