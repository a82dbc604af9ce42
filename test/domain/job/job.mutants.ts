import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a duplicate result is accepted at the end of a job',
    file: 'src/domain/job/job.ts',
    find: "isTerminal(job.state)) return 'duplicate'",
    replace: "isTerminal(job.state)) return 'accept'",
  },
  {
    id: 'unacknowledged lease one millisecond long',
    file: 'src/domain/job/lease.ts',
    find: 'leaseUntilMs: nowMs + ACK_INTERVALS * times.pingIntervalMs,',
    replace: 'leaseUntilMs: nowMs + ACK_INTERVALS * times.pingIntervalMs + 1,',
  },
  {
    id: 'ttl of a queued job one millisecond long',
    file: 'src/domain/job/job.ts',
    find: "if (job.state === 'IN_QUEUE') return job.ttlAtMs",
    replace: "if (job.state === 'IN_QUEUE') return job.ttlAtMs + 1",
  },
  {
    id: 'a requeued job goes to the tail',
    file: 'src/domain/job/lease.ts',
    find: "    state: 'IN_QUEUE',\n    hostLosses,",
    replace: "    state: 'IN_QUEUE',\n    orderKey: Number.MAX_SAFE_INTEGER,\n    hostLosses,",
  },
  {
    id: 'a retry forgets who held the job',
    file: 'src/domain/job/job.ts',
    find: '    orderKey,\n    retries: 0,',
    replace: '    orderKey,\n    pastHolders: [],\n    retries: 0,',
  },
  {
    id: 'a result from before a retry ends it',
    file: 'src/domain/job/job.ts',
    find: '    lostAtMs: null,\n    holder: null,\n  }\n}\n\n/** Whether a user may retry',
    replace: '    lostAtMs: null,\n  }\n}\n\n/** Whether a user may retry',
  },
  {
    id: 'no fence: any holder may commit',
    file: 'src/domain/job/job.ts',
    find: 'const last = sameHolder(job.holder, from)',
    replace: 'const last = job.holder !== null',
  },
  {
    id: 'boot nonce ignored',
    file: 'src/domain/job/job.ts',
    find: 'a.workerId === b.workerId && a.boot === b.boot',
    replace: 'a.workerId === b.workerId',
  },
  {
    id: 'progress accepted late',
    file: 'src/domain/job/job.ts',
    find: "job.state === 'IN_QUEUE' && final",
    replace: "job.state === 'IN_QUEUE'",
  },
  {
    id: 'a late result is never accepted',
    file: 'src/domain/job/job.ts',
    find: "return 'accept-late'",
    replace: "return 'superseded'",
  },
  {
    id: 'a ttl loses against other deadlines of its instant',
    file: 'src/domain/job/lease.ts',
    find: 'if (nowMs >= job.ttlAtMs) return',
    replace: 'if (nowMs > job.ttlAtMs) return',
  },
  {
    id: 'ttl forgotten while running',
    file: 'src/domain/job/job.ts',
    find: 'return Math.min(job.ttlAtMs, job.leaseUntilMs,',
    replace: 'return Math.min(job.leaseUntilMs,',
  },
  {
    id: 'one missing ping is enough',
    file: 'src/domain/job/lease.ts',
    find: 'MISSING_PINGS_LIMIT = 2',
    replace: 'MISSING_PINGS_LIMIT = 1',
  },
  {
    id: 'unacknowledged jobs are missed too',
    file: 'src/domain/job/lease.ts',
    find: 'if (!job.acked) return job',
    replace: '',
  },
  {
    id: 'a third attempt',
    file: 'src/domain/job/lease.ts',
    find: 'const RETRY_LIMIT = 1',
    replace: 'const RETRY_LIMIT = 2',
  },
  {
    id: 'past holders forgotten',
    file: 'src/domain/job/lease.ts',
    find: 'pastHolders: [...job.pastHolders, holderKey(holder)]',
    replace: 'pastHolders: []',
  },
]
