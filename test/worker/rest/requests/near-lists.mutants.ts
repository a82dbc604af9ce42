import type { Mutant } from '../../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'RATE-34: a write that was counted is not noted',
    file: 'durable-objects/rate-limiter.ts',
    find: '      this.newest = wroteAt(nowMs)\n',
    replace: '',
  },
  {
    id: 'RATE-34: a bookmark is taken while a write may be under way',
    file: 'src/domain/newest-write.ts',
    find: 'return nowMs - atMs >= SETTLED_AFTER_MS',
    replace: 'return nowMs >= atMs',
  },
  {
    id: 'RATE-34: a long or uncounted write is not announced',
    file: 'src/http/middleware/rate-limit.ts',
    find: '  if (!isRead) await announceWrites(c.env, principal, last, nowMs)\n',
    replace: '',
  },
  {
    id: 'RATE-34: lists ask a replica without a bookmark',
    file: 'src/services/near-reads.ts',
    find: 'nearReplica(env.DB, bookmark)',
    replace: "nearReplica(env.DB, 'first-unconstrained')",
  },
  {
    id: 'RATE-34: a new instance of the counter assumes that nothing was written',
    file: 'durable-objects/rate-limiter.ts',
    find: 'private newest: NewestWrite = wroteAt(Date.now())',
    replace: 'private newest: NewestWrite = wroteAt(0)',
  },
]
