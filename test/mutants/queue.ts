import type { Mutant } from './table.ts'

// Planted bugs of the queue by what they break, beside those in table.ts: order, timers, fencing, wakes, alarm, retention, restart.
// "slots" of concurrency limits have their entries where the limits are.

const JOB = 'src/domain/job/job.ts'
const WORKER = 'src/domain/worker/worker.ts'
const DISPATCH = 'src/domain/job/dispatch.ts'

/** Killed by the unit tests of the pure rules or by the model. */
export const QUEUE_DOMAIN_MUTANTS: readonly Mutant[] = [
  {
    id: 'terminal does not absorb: a duplicate result is accepted',
    file: JOB,
    find: "isTerminal(job.state)) return 'duplicate'",
    replace: "isTerminal(job.state)) return 'accept'",
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
    find: 'leaseUntilMs: nowMs + LEASE_INTERVALS * times.pingIntervalMs,',
    replace: 'leaseUntilMs: nowMs + LEASE_INTERVALS * times.pingIntervalMs - 1,',
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
    find: 'POSITIVE_INFINITY) + lostAfterMs',
    replace: 'POSITIVE_INFINITY) + lostAfterMs + 1',
  },
  {
    id: 'silence does not end a ready worker',
    file: WORKER,
    find: 'return Math.min(silentAtMs(worker, lostAfterMs), ',
    replace: 'return Math.min(Number.POSITIVE_INFINITY, ',
  },
  { id: 'a retried job jumps the queue', file: JOB, find: '    orderKey,\n    retries: 0,', replace: '    retries: 0,' },
  {
    id: 'a requeued job goes to the tail',
    file: JOB,
    find: "    state: 'IN_QUEUE',\n    retries: job.retries + ",
    replace: "    state: 'IN_QUEUE',\n    orderKey: Number.MAX_SAFE_INTEGER,\n    retries: job.retries + ",
  },
  {
    id: 'a retry forgets who held the job',
    file: JOB,
    find: '    orderKey,\n    retries: 0,',
    replace: '    orderKey,\n    pastHolders: [],\n    retries: 0,',
  },
  { id: 'a retry keeps the retries', file: JOB, find: '    retries: 0,\n    finishedAtMs: null,', replace: '    finishedAtMs: null,' },
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
    find: 'if (job.leaseEndReason === RESULT_LOST) return { ...job, acked: true, missingPings: 0 }',
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

const JOBS = 'durable-objects/endpoint/store/job-store.ts'
const WORKERS = 'durable-objects/endpoint/store/worker-store.ts'
const META = 'durable-objects/endpoint/store/meta-store.ts'
const PARKING = 'durable-objects/endpoint/parking.ts'
const TIMERS = 'src/queue/deadlines.ts'
const TRANSITIONS = 'src/queue/transitions.ts'
const CLIENT = 'durable-objects/endpoint/client/client-operations.ts'
const ACCEPT = 'src/queue/accept.ts'
const TAKE_REPLIES = 'durable-objects/endpoint/worker/take-replies.ts'
const OPERATIONS = 'durable-objects/endpoint/worker/worker-operations.ts'
const POLLS = 'durable-objects/endpoint/worker/worker-polls.ts'
const DISPATCHER = 'src/queue/dispatch.ts'
const REPORTS = 'src/queue/host-reports.ts'

/** Killed by the tests against the real objects in workerd, the model among them. */
export const QUEUE_OBJECT_MUTANTS: readonly Mutant[] = [
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
  { id: 'a restart forgets running jobs', file: JOBS, find: 'this.inProgress = max(', replace: 'this.inProgress = 0 * max(' },
  { id: 'a restart forgets queued jobs', file: JOBS, find: 'this.queuedNormal = max(', replace: 'this.queuedNormal = 0 * max(' },
  {
    id: 'a restart loses the totals',
    file: META,
    find: "this.write('totals', { ...totals, [name]: totals[name] + by })",
    replace: "this.keep('totals', JSON.stringify({ ...totals, [name]: totals[name] + by }))",
  },
  {
    id: 'a purge touches running jobs',
    file: CLIENT,
    find: 'const jobs = core.jobs.queued(PURGE_BATCH)',
    replace: 'const jobs = [...core.jobs.queued(PURGE_BATCH), ...core.jobs.running()]',
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
  {
    id: 'an answered take goes on waiting',
    file: TAKE_REPLIES,
    find: '  core.parking.dropTake(take)\n',
    replace: '',
  },
  { id: 'lost wake: a drained worker waits for the end of its hold', file: PARKING, find: '    take?.answer(null)\n', replace: '' },
  {
    id: 'lost wake: a second take leaves the first one open',
    file: PARKING,
    find: '    this.releaseTake(take.workerId)\n    this.takes.set',
    replace: '    this.takes.set',
  },
  {
    id: 'the alarm is not moved forward',
    file: TIMERS,
    find: 'armed > nowMs && armed < atMs && atMs - armed <',
    replace: 'armed > nowMs && atMs - armed <',
  },
  { id: 'the alarm ignores jobs', file: TIMERS, find: '[this.core.jobs.nextDueAtMs(), ', replace: '[' },
  {
    id: 'the alarm ignores workers',
    file: TIMERS,
    find: 'this.core.outbox.dueAtMs(nowMs), ...dues]',
    replace: 'this.core.outbox.dueAtMs(nowMs)]',
  },
  {
    id: 'a draining worker is never silent',
    file: TIMERS,
    find: "if (worker.phase === 'DRAINING' && isSilent(this.core, worker, nowMs))",
    replace: 'if (false)',
  },
  {
    id: 'a worker that lost a job goes on',
    file: TRANSITIONS,
    find: '  else drainWorker(core, worker, `lost job ${job.id}: ${reason}`, nowMs, effects)\n',
    replace: '',
  },
  { id: 'the end of a worker comes before the time of its jobs', file: TRANSITIONS, find: '    core.settle(seq, effects)\n', replace: '' },
  { id: 'requeues are not counted', file: TRANSITIONS, find: "core.meta.add('retried')", replace: "core.meta.add('retried', 0)" },
  { id: 'failures are not counted', file: TRANSITIONS, find: "core.meta.add('failed')", replace: "core.meta.add('failed', 0)" },
  {
    id: 'takes count as pings',
    file: WORKERS,
    find: "SET last_take_at = ? WHERE id = ?', atMs, id)",
    replace: "SET last_seen_at = ?, last_take_at = ? WHERE id = ?', atMs, atMs, id)",
  },
  { id: 'the second missing ping waits for the alarm', file: OPERATIONS, find: '      core.settle(job.seq, effects)\n', replace: '' },
  {
    id: 'pings of strangers renew',
    file: 'durable-objects/endpoint/worker-of.ts',
    find: 'worker?.boot === from.boot ? worker : null',
    replace: 'worker',
  },
  { id: 'every take shows idle', file: POLLS, find: "if (call.query.get('job_in_progress') === '0') showIdle", replace: 'showIdle' },
  { id: 'batch size ignored', file: POLLS, find: 'Math.min(size, MAX_BATCH) : 1', replace: 'MAX_BATCH : 1' },
  {
    id: 'no room is made for a job that nobody may hold',
    file: DISPATCHER,
    find: 'if (stuck) drainWorker',
    replace: 'if (false) drainWorker',
  },
  {
    id: 'a crash while draining is free',
    file: REPORTS,
    find: "core.now(), 'acknowledged', effects)",
    replace: 'core.now(), false, effects)',
  },
  {
    id: 'an assignment that crossed a drain counts',
    file: REPORTS,
    find: "core.now(), 'acknowledged', effects)",
    replace: 'core.now(), true, effects)',
  },
]
