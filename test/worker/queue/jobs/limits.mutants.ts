import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a small call holds its slot for ever',
    file: 'durable-objects/endpoint/client/client-call.ts',
    find: '    entry?.release()\n',
    replace: '',
  },
  {
    id: 'a client names itself exempt',
    file: 'src/rpc/caller.ts',
    find: 'else named.headers.delete(EXEMPT_HEADER)',
    replace: '',
  },
]
