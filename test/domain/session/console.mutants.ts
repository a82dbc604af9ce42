import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a WebSocket by cookie needs no origin',
    file: 'src/domain/session/console.ts',
    find: 'isSocket && origin === null',
    replace: 'false',
  },
  {
    id: 'a cookie permits changes from any page',
    file: 'src/domain/session/console.ts',
    find: 'changes && requestedWith !== PAGE_MARK',
    replace: 'false',
  },
]
