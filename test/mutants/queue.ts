import type { Mutant } from './table.ts'

// Planted bugs of the queue by what they break, beside those in table.ts: order, timers, fencing, wakes, alarm, retention, restart.
// "slots" of concurrency limits have their entries where the limits are.

const JOB = 'src/domain/job/job.ts'
const WORKER = 'src/domain/worker/worker.ts'
const DISPATCH = 'src/domain/job/dispatch.ts'

/** Killed by the unit tests of the pure rules or by the model. */
export const QUEUE_DOMAIN_MUTANTS: readonly Mutant[] = [
  {
    id: 'a queue that is loaded gives its leases no time',
    file: 'src/queue/loaded.ts',
    find: 'if (loaded !== job) jobs.save(job, loaded)',
    replace: '',
  },
  {
    id: 'a queue that is loaded often waits for ever for a job',
    file: 'src/domain/job/lease-memory.ts',
    find: 'untilMs), leaseEndReason: LOADED }',
    replace: 'untilMs) }',
  },
  {
    id: 'a queue that is loaded often waits for ever for a worker',
    file: 'src/queue/worker-life.ts',
    find: '|| worker.loadedAtMs !== null ? worker',
    replace: '? worker',
  },
  {
    id: 'a take is forgotten with the memory of its queue',
    file: 'src/domain/worker/signs.ts',
    find: 'Math.ceil(worker.lastTakeAtMs',
    replace: 'Math.floor(worker.lastTakeAtMs',
  },
  {
    id: 'terminal does not absorb: a duplicate result is accepted',
    file: JOB,
    find: "isTerminal(job.state)) return 'duplicate'",
    replace: "isTerminal(job.state)) return 'accept'",
  },
  {
    id: 'a list of jobs holds one of the first instant that is too late',
    file: 'src/domain/job/job-filter.ts',
    find: 'job.createdAtMs >= toMs',
    replace: 'job.createdAtMs > toMs',
  },
  {
    id: 'logs are joined beyond where one of them was left',
    file: 'src/domain/logs/merged-page.ts',
    find: '(edge === null || inOrder(line, edge) <= 0)',
    replace: 'true',
  },
  {
    id: 'the silence of a host costs the job a retry',
    file: JOB,
    find: 'leaseEndReason === HOST_SILENT || leaseEndReason',
    replace: 'leaseEndReason',
  },
  { id: 'any terminal job can be retried', file: JOB, find: "state === 'FAILED' || state === 'TIMED_OUT'", replace: 'isTerminal(state)' },
  {
    id: 'unacknowledged lease one millisecond long',
    file: JOB,
    find: 'leaseUntilMs: nowMs + ACK_INTERVALS * times.pingIntervalMs,',
    replace: 'leaseUntilMs: nowMs + ACK_INTERVALS * times.pingIntervalMs + 1,',
  },
  {
    id: 'renewed lease one millisecond short',
    file: JOB,
    find: 'nowMs + LEASE_INTERVALS * times.pingIntervalMs)',
    replace: 'nowMs + LEASE_INTERVALS * times.pingIntervalMs - 1)',
  },
  {
    id: 'execution timeout one millisecond long',
    file: JOB,
    find: 'job.createdAtMs) + job.executionTimeoutMs)',
    replace: 'job.createdAtMs) + job.executionTimeoutMs + 1)',
  },
  {
    id: 'execution timeout at its instant taken for a lost lease',
    file: JOB,
    find: 'if (nowMs >= (job.startedAtMs ?? 0) + job.executionTimeoutMs)',
    replace: 'if (nowMs > (job.startedAtMs ?? 0) + job.executionTimeoutMs)',
  },
  {
    id: 'ttl of a queued job one millisecond long',
    file: JOB,
    find: "if (job.state === 'IN_QUEUE') return job.ttlAtMs",
    replace: "if (job.state === 'IN_QUEUE') return job.ttlAtMs + 1",
  },
  {
    id: 'retention one millisecond long',
    file: JOB,
    find: 'job.createdAtMs) + job.retentionMs)',
    replace: 'job.createdAtMs) + job.retentionMs + 1)',
  },
  {
    id: 'silence one millisecond long',
    file: WORKER,
    find: 'heardAtMs + lostAfterMs',
    replace: 'heardAtMs + lostAfterMs + 1',
  },
  {
    id: 'silence does not end a ready worker',
    file: WORKER,
    find: 'Math.min(silentAtMs(worker, lostAfterMs), worker.idle',
    replace: 'Math.min(Number.POSITIVE_INFINITY, worker.idle',
  },
  { id: 'a retried job jumps the queue', file: JOB, find: '    orderKey,\n    retries: 0,', replace: '    retries: 0,' },
  {
    id: 'a requeued job goes to the tail',
    file: JOB,
    find: "    state: 'IN_QUEUE',\n    hostLosses,",
    replace: "    state: 'IN_QUEUE',\n    orderKey: Number.MAX_SAFE_INTEGER,\n    hostLosses,",
  },
  {
    id: 'a retry forgets who held the job',
    file: JOB,
    find: '    orderKey,\n    retries: 0,',
    replace: '    orderKey,\n    pastHolders: [],\n    retries: 0,',
  },
  {
    id: 'a retry keeps the retries',
    file: JOB,
    find: '    retries: 0,\n    unconfirmed: 0,\n    hostLosses: 0,\n    finishedAtMs: null,',
    replace: '    unconfirmed: 0,\n    hostLosses: 0,\n    finishedAtMs: null,',
  },
  {
    id: 'a result from before a retry ends it',
    file: JOB,
    find: '    leaseUntilMs: null,\n    holder: null,\n  }\n}\n\nexport function canRetry',
    replace: '    leaseUntilMs: null,\n  }\n}\n\nexport function canRetry',
  },
  {
    id: 'the wait after a lost lease counts as execution',
    file: JOB,
    find: 'const leaseUntilMs = ranNoLonger ? job.leaseUntilMs : null',
    replace: 'const leaseUntilMs = null',
  },
  {
    id: 'a late result has executed only until its lease ended',
    file: JOB,
    find: "(state === 'CANCELLED' || state === 'TIMED_OUT')",
    replace: "state !== 'IN_QUEUE'",
  },
  {
    id: 'a ping brings a job back that was shown lost',
    file: JOB,
    find: 'if (isGivenUp(job)) return { ...job, acked: true, missingPings: 0 }',
    replace: '',
  },
  {
    id: 'what is given now does not count as held',
    file: DISPATCH,
    find: 'const held = taker.held + gave',
    replace: 'const held = taker.held',
  },
  {
    id: 'one job that nobody may hold blocks all others',
    file: DISPATCH,
    find: 'if (best === -1) continue',
    replace: 'if (best === -1) break',
  },
  {
    id: 'delay time of the first attempt',
    file: JOB,
    find: '    startedAtMs: nowMs,\n',
    replace: '    startedAtMs: job.startedAtMs ?? nowMs,\n',
  },
]

const JOBS = 'durable-objects/endpoint/store/jobs/job-store.ts'
const META = 'durable-objects/endpoint/store/meta-store.ts'
const PARKING = 'durable-objects/endpoint/parking.ts'
const CLIENT = 'durable-objects/endpoint/client/client-operations.ts'
const ACCEPT = 'src/queue/accept.ts'
const POLLS = 'durable-objects/endpoint/worker/worker-polls.ts'
const DISPATCHER = 'src/queue/dispatch.ts'

/** Killed by the tests against the real objects in workerd, the model among them. */
export const QUEUE_OBJECT_MUTANTS: readonly Mutant[] = [
  {
    id: 'an input stays in the row of a job that is over',
    file: 'durable-objects/endpoint/store/jobs/job-columns.ts',
    find: "'output = ?, input = NULL, '",
    replace: "'output = ?, '",
  },
  {
    id: 'what a lost attempt put out stays in the row of its job',
    file: 'durable-objects/endpoint/store/jobs/payload-store.ts',
    find: "this.sql.exec('UPDATE jobs SET output = NULL WHERE seq = ? AND output IS NOT NULL', job)",
    replace: '',
  },
  {
    id: 'a long word of progress outlives the result',
    file: 'durable-objects/endpoint/store/jobs/job-store.ts',
    find: 'this.payloads.clearEnded(job.seq, mayRunAgain)',
    replace: '',
  },
  {
    id: 'the former release does not find a short input',
    file: 'durable-objects/endpoint/store/schema.ts',
    find: 'SELECT seq, 0, 0, input FROM jobs WHERE input IS NOT NULL',
    replace: 'SELECT seq, 0, 0, input FROM jobs WHERE 0',
  },
  {
    id: 'a plan for many jobs hides what it refuses',
    file: 'durable-objects/endpoint/client/bulk.ts',
    find: 'const states = JOB_STATES.filter((status) => !able.includes(status)',
    replace: 'const states = JOB_STATES.filter((status) => able.includes(status)',
  },
  {
    id: 'a time line shows the whole of an input',
    file: 'durable-objects/endpoint/client/timeline.ts',
    find: 'INPUT, SHOWN_INPUT_BYTES)',
    replace: 'INPUT, 100 * SHOWN_INPUT_BYTES)',
  },
  {
    id: 'an object forgets an endpoint that is not deleted yet',
    file: 'durable-objects/endpoint/engine/engine.ts',
    find: '|| (await isKnown(this.core.env, state)) ||',
    replace: '||',
  },
  {
    id: 'a late change begins a deleted endpoint anew',
    file: 'durable-objects/endpoint.ts',
    find: 'if (!this.core.isStored && !(await isLiveEndpoint(',
    replace: 'if (false && !(await isLiveEndpoint(',
  },
  {
    id: 'what a late word has made stays',
    file: 'durable-objects/endpoint/engine/engine.ts',
    find: 'const forgetAtMs = liveConfig(state) ? null :',
    replace: 'const forgetAtMs = true ? null :',
  },
  {
    id: 'any text is a boot nonce',
    file: 'src/contract/jobs/boot.ts',
    find: 'BOOT.test(boot) ? boot : null',
    replace: 'boot',
  },
  {
    id: 'priority inverted',
    file: JOBS,
    find: 'WHERE state = ${QUEUED} ORDER BY low, order_key LIMIT',
    replace: 'WHERE state = ${QUEUED} ORDER BY low DESC, order_key LIMIT',
  },
  {
    id: 'FIFO broken: the youngest first',
    file: JOBS,
    find: 'WHERE state = ${QUEUED} ORDER BY low, order_key LIMIT',
    replace: 'WHERE state = ${QUEUED} ORDER BY low, order_key DESC LIMIT',
  },
  {
    id: 'priority ignored',
    file: JOBS,
    find: 'WHERE state = ${QUEUED} ORDER BY low, order_key LIMIT',
    replace: 'WHERE state = ${QUEUED} ORDER BY order_key LIMIT',
  },
  { id: 'due jobs one millisecond late', file: JOBS, find: 'WHERE due_at <= ?', replace: 'WHERE due_at < ?' },
  {
    id: 'a restart forgets running jobs',
    file: JOBS,
    find: 'new Leases(undo, this.select(',
    replace: 'new Leases(undo, [] ?? this.select(',
  },
  {
    id: 'a rollback forgets what was heard of leases',
    file: 'durable-objects/endpoint/store/undo.ts',
    find: 'this.steps.splice(mark)',
    replace: 'this.steps.splice(0)',
  },
  {
    id: 'a rollback leaves in memory what no row has',
    file: 'durable-objects/endpoint/store/undo.ts',
    find: 'takeBack()',
    replace: 'void takeBack',
  },
  {
    id: 'lists take leases from rows',
    file: 'durable-objects/endpoint/store/jobs/job-lists.ts',
    find: 'this.leases.get(Number(row.seq)) ?? toJob(row)',
    replace: 'toJob(row)',
  },
  {
    id: 'a ping writes a row',
    file: JOBS,
    find: 'if (!isRenewal(before, job)) this.update(LEASE, job)',
    replace: 'this.update(LEASE, job)',
  },
  { id: 'a restart forgets queued jobs', file: JOBS, find: 'this.queuedNormal = max(', replace: 'this.queuedNormal = 0 * max(' },
  {
    id: 'a restart loses the totals',
    file: META,
    find: "this.write('totals', { ...totals, [name]: totals[name] + by })",
    replace: "this.keep('totals', JSON.stringify({ ...totals, [name]: totals[name] + by }))",
  },
  {
    id: 'jobs are retried in any state',
    file: CLIENT,
    find: 'if (reason) return problemReply',
    replace: 'if (false) return problemReply',
  },
  {
    id: 'retention of the other kind',
    file: ACCEPT,
    find: 'retentionMs(config.retention, sync,',
    replace: 'retentionMs(config.retention, !sync,',
  },
  {
    id: 'the default ttl of a job is its timeout',
    file: ACCEPT,
    find: 'ttlAtMs: nowMs + submission.ttlMs',
    replace: 'ttlAtMs: nowMs + config.timeoutMs',
  },
  { id: 'lost wake: a drained worker waits for the end of its hold', file: PARKING, find: '    take?.answer(null)\n', replace: '' },
  {
    id: 'lost wake: a second take leaves the first one open',
    file: PARKING,
    find: '    this.releaseTake(take.workerId)\n    this.takes.set',
    replace: '    this.takes.set',
  },
  { id: 'batch size ignored', file: POLLS, find: 'Math.min(size, MAX_BATCH) : 1', replace: 'MAX_BATCH : 1' },
  {
    id: 'no room is made for a job that nobody may hold',
    file: DISPATCHER,
    find: 'if (stuck) drainWorker',
    replace: 'if (false) drainWorker',
  },
]
