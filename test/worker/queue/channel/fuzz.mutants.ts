import type { Mutant } from '../../../support/mutant.ts'

const FILE = 'durable-objects/endpoint/channel/calls.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a host posts results of workers on other hosts over its channel',
    file: FILE,
    find: '    if (!this.isOwn(call.worker)) return ack(USE_HTTP)\n',
    replace: '',
  },
  {
    id: 'a host takes jobs as a worker on another host',
    file: FILE,
    find: '    if (!this.isOwn(call.worker)) return this.refuse(call.n)\n    const from',
    replace: '    const from',
  },
]
