/** A bug planted on purpose: `find` occurs exactly once in `file` and becomes `replace`. Some test must then fail. */
export interface Mutant {
  id: string
  file: string
  find: string
  replace: string
}

const JOB = 'src/domain/job.ts'
const DISPATCH = 'src/domain/dispatch.ts'
const SCALING = 'src/domain/scaling.ts'
const PLACEMENT = 'src/domain/placement.ts'
const SUBMIT = 'src/domain/submit.ts'
const POST = 'src/domain/worker-post.ts'
const RECORD = 'src/domain/job-record.ts'
const TEXT = 'src/domain/json-text.ts'

/** Killed by the unit tests of the pure rules. */
export const DOMAIN_MUTANTS: readonly Mutant[] = [
  {
    id: 'no fence: any holder may commit',
    file: JOB,
    find: 'const last = sameHolder(job.holder, from)',
    replace: 'const last = job.holder !== null',
  },
  { id: 'boot nonce ignored', file: JOB, find: 'a.workerId === b.workerId && a.boot === b.boot', replace: 'a.workerId === b.workerId' },
  { id: 'progress accepted late', file: JOB, find: "job.state === 'IN_QUEUE' && final", replace: "job.state === 'IN_QUEUE'" },
  { id: 'late result never accepted', file: JOB, find: "return 'accept-late'", replace: "return 'superseded'" },
  { id: 'progress after the end is a duplicate result', file: JOB, find: 'last && final && isTerminal', replace: 'last && isTerminal' },
  { id: 'deadline one millisecond late', file: JOB, find: 'if (nowMs < dueAtMs(job))', replace: 'if (nowMs <= dueAtMs(job))' },
  { id: 'ttl does not win', file: JOB, find: 'if (nowMs >= job.ttlAtMs) return', replace: 'if (nowMs > job.ttlAtMs) return' },
  {
    id: 'ttl forgotten while running',
    file: JOB,
    find: 'return Math.min(job.ttlAtMs, job.leaseUntilMs ?? job.ttlAtMs,',
    replace: 'return Math.min(job.leaseUntilMs ?? job.ttlAtMs,',
  },
  {
    id: 'ttl forgotten when finished',
    file: JOB,
    find: 'return Math.min(job.ttlAtMs, (job.finishedAtMs',
    replace: 'return Math.min(Number.MAX_SAFE_INTEGER, (job.finishedAtMs',
  },
  {
    id: 'execution timeout counts from submission',
    file: JOB,
    find: '(job.startedAtMs ?? job.createdAtMs) + job.executionTimeoutMs)',
    replace: 'job.createdAtMs + job.executionTimeoutMs)',
  },
  { id: 'ack window of 4 intervals', file: JOB, find: 'const ACK_INTERVALS = 3', replace: 'const ACK_INTERVALS = 4' },
  { id: 'lease of 5 intervals', file: JOB, find: 'LEASE_INTERVALS = 4', replace: 'LEASE_INTERVALS = 5' },
  { id: 'one missing ping is enough', file: JOB, find: 'MISSING_PINGS_LIMIT = 2', replace: 'MISSING_PINGS_LIMIT = 1' },
  { id: 'unacknowledged jobs are missed too', file: JOB, find: 'if (!job.acked) return job', replace: '' },
  {
    id: 'a listed job stays missed',
    file: JOB,
    find: "leaseEndReason: 'the worker stopped sending pings',\n    missingPings: 0,",
    replace: "leaseEndReason: 'the worker stopped sending pings',",
  },
  {
    id: 'idle grace extends a lease',
    file: JOB,
    find: 'Math.min(job.leaseUntilMs ?? Number.POSITIVE_INFINITY, nowMs + RESULT_GRACE_MS)',
    replace: 'nowMs + RESULT_GRACE_MS',
  },
  { id: 'idle grace of 3 s', file: JOB, find: 'RESULT_GRACE_MS = 2_000', replace: 'RESULT_GRACE_MS = 3_000' },
  { id: 'a third attempt', file: JOB, find: 'const RETRY_LIMIT = 1', replace: 'const RETRY_LIMIT = 2' },
  { id: 'uncounted requeue counts', file: JOB, find: 'job.retries + (counted ? 1 : 0)', replace: 'job.retries + 1' },
  {
    id: 'uncounted requeue can fail',
    file: JOB,
    find: 'if (counted && job.retries >= RETRY_LIMIT)',
    replace: 'if (job.retries >= RETRY_LIMIT)',
  },
  {
    id: 'cause of the loss dropped',
    file: JOB,
    find: '`job timed out after ${RETRY_LIMIT} retries`, reason)',
    replace: '`job timed out after ${RETRY_LIMIT} retries`)',
  },
  { id: 'past holders forgotten', file: JOB, find: 'pastHolders: [...job.pastHolders, holderKey(holder)]', replace: 'pastHolders: []' },
  { id: 'attempt not counted', file: JOB, find: 'attempt: job.attempt + 1', replace: 'attempt: job.attempt' },
  { id: 'retention ignored', file: JOB, find: 'job.createdAtMs) + job.retentionMs)', replace: 'job.createdAtMs) + job.retentionMs * 2)' },
  { id: 'a held job may go back to its boot', file: DISPATCH, find: '|| !mayHold(job, taker)', replace: '' },
  { id: 'batch exceeded', file: DISPATCH, find: 'if (gave >= taker.capacity', replace: 'if (gave > taker.capacity' },
  { id: 'first take wins whatever it holds', file: DISPATCH, find: 'held < bestHeld ||', replace: 'false ||' },
  {
    id: 'youngest take wins',
    file: DISPATCH,
    find: 'taker.parkedAtMs < current.parkedAtMs',
    replace: 'taker.parkedAtMs > current.parkedAtMs',
  },
  {
    id: 'max ignored',
    file: SCALING,
    find: 'Math.min(Math.max(inputs.min, wanted), Math.max(0, inputs.max - finishing))',
    replace: 'Math.max(inputs.min, wanted)',
  },
  { id: 'min ignored', file: SCALING, find: 'Math.max(inputs.min, wanted)', replace: 'Math.max(0, wanted)' },
  {
    id: 'busy workers count as free',
    file: SCALING,
    find: "(w) => w.phase !== 'READY' || (held.get(w.id) ?? 0) === 0)",
    replace: '() => true)',
  },
  { id: 'back-off ignored', file: SCALING, find: 'const mayLaunch = nowMs >= inputs.launchNotBeforeMs', replace: 'const mayLaunch = true' },
  {
    id: 'back-off one millisecond long',
    file: SCALING,
    find: 'nowMs >= inputs.launchNotBeforeMs',
    replace: 'nowMs > inputs.launchNotBeforeMs',
  },
  { id: 'idle timeout one millisecond long', file: SCALING, find: 'inputs.nowMs >= expiry', replace: 'inputs.nowMs > expiry' },
  { id: 'idle workers stop below min', file: SCALING, find: 'const idledOut = left > inputs.min &&', replace: 'const idledOut =' },
  { id: 'no look at the next idle expiry', file: SCALING, find: 'nextAtMs = Math.min(nextAtMs ?? expiry, expiry)', replace: '' },
  { id: 'stale workers stay', file: SCALING, find: 'w.version !== inputs.version &&', replace: 'false &&' },
  {
    id: 'busy stale workers are stopped',
    file: SCALING,
    find: 'w.version !== inputs.version && (held.get(w.id) ?? 0) === 0',
    replace: 'w.version !== inputs.version',
  },
  { id: 'a thousand workers look for a host at once', file: SCALING, find: 'MAX_PLACING = 10', replace: 'MAX_PLACING = 1000' },
  { id: 'memory not compared', file: PLACEMENT, find: 'if (shape.memoryMb > host.memoryMbFree)', replace: 'if (false)' },
  { id: 'disk off by one', file: PLACEMENT, find: 'request.diskGb > host.diskGbFree', replace: 'request.diskGb > host.diskGbFree + 1' },
  {
    id: 'versions compared as text',
    file: PLACEMENT,
    find: 'compareVersions(cuda, request.minCudaVersion) < 0',
    replace: 'cuda < request.minCudaVersion',
  },
  { id: 'spread instead of pack', file: PLACEMENT, find: 'a.left - b.left', replace: 'b.left - a.left' },
  { id: 'ttl of 9999 ms accepted', file: SUBMIT, find: 'MIN_TTL_MS = 10_000', replace: 'MIN_TTL_MS = 9_999' },
  {
    id: 'query ttl wins over the body',
    file: SUBMIT,
    find: 'if (ttlMs === undefined && queryTtl !== null)',
    replace: 'if (queryTtl !== null)',
  },
  {
    id: 'array input accepted',
    file: SUBMIT,
    find: "if (!input.startsWith('{'))",
    replace: "if (!input.startsWith('{') && !input.startsWith('['))",
  },
  { id: 'unknown policy members ignored', file: SUBMIT, find: 'if (!POLICY_MEMBERS.includes(name))', replace: 'if (false)' },
  { id: 'falsy error fails the job', file: POST, find: 'if (!value) return null', replace: '' },
  { id: 'progress taken for a result', file: POST, find: "=== 'IN_PROGRESS') return", replace: "=== 'PROGRESS') return" },
  { id: 'stopPod of any value', file: POST, find: "?? 'null') === true", replace: "?? 'null') !== null" },
  {
    id: 'error on a queued record',
    file: RECORD,
    find: 'if (terminal && job.error !== null) parts',
    replace: 'if (job.error !== null) parts',
  },
  { id: 'retries 0 shown', file: RECORD, find: 'if (job.retries > 0)', replace: 'if (job.retries >= 0)' },
  {
    id: 'NaN inside strings replaced',
    file: TEXT,
    find: '    pieces.push(text.slice(quote, i))',
    replace: "    pieces.push(text.slice(quote, i).replace('NaN', 'null'))",
  },
  { id: 'escaped quotes end strings', file: TEXT, find: 'if (backslashes % 2 === 0) return i', replace: 'return i' },
]

const CORE = 'durable-objects/endpoint/core.ts'
const TIMERS = 'durable-objects/endpoint/timers.ts'
const TRANSITIONS = 'durable-objects/endpoint/transitions.ts'
const POLLS = 'durable-objects/endpoint/worker-polls.ts'
const POSTS = 'durable-objects/endpoint/worker-posts.ts'
const OPERATIONS = 'durable-objects/endpoint/worker-operations.ts'
const DISPATCHER = 'durable-objects/endpoint/dispatcher.ts'
const REPORTS = 'durable-objects/endpoint/host-reports.ts'
const READS = 'durable-objects/endpoint/client-reads.ts'

/** Killed by the tests against the real objects in workerd. */
export const OBJECT_MUTANTS: readonly Mutant[] = [
  {
    id: 'lost wake: a changed job notifies nobody',
    file: CORE,
    find: 'for (const seq of effects.changedJobs) this.parking.notifyJob(seq)',
    replace: '',
  },
  {
    id: 'lost wake: stop orders wait for the next poll',
    file: CORE,
    find: 'for (const id of effects.stopPolls) this.parking.wakeStopPoll(id)',
    replace: '',
  },
  {
    id: 'drained workers keep their open take',
    file: CORE,
    find: 'for (const id of effects.releasedTakes) this.parking.releaseTake(id)',
    replace: '',
  },
  { id: 'nothing is dispatched', file: CORE, find: 'taken = dispatch(this, effects)', replace: 'taken = []' },
  { id: 'alarm not re-armed', file: TIMERS, find: 'void this.core.ctx.storage.setAlarm(atMs)', replace: '' },
  {
    id: 'silent workers stay ready',
    file: TIMERS,
    find: 'if (isSilent(this.core, worker, nowMs)) failWorker(this.core, worker, silenceReason(this.core), nowMs, effects)\n    else if',
    replace: 'if',
  },
  {
    id: 'an outage counts as silence',
    file: TIMERS,
    find: 'if (armed === null || nowMs - armed <',
    replace: 'if (true || armed === null || nowMs - armed <',
  },
  {
    id: 'stop order forgotten on timeout',
    file: TRANSITIONS,
    find: "    case 'stop':\n      applyJob(core, job, due.job, effects)\n      orderStop(core, job, nowMs, effects)",
    replace: "    case 'stop':\n      applyJob(core, job, due.job, effects)",
  },
  { id: 'stop order forgotten on ttl', file: TRANSITIONS, find: 'if (due.wasRunning) orderStop(core, job, nowMs, effects)', replace: '' },
  {
    id: 'cancel leaves the worker running',
    file: TRANSITIONS,
    find: "if (job.state === 'IN_PROGRESS') orderStop(core, job, nowMs, effects)",
    replace: '',
  },
  { id: 'an error is not kept over the retry', file: TRANSITIONS, find: 'core.payloads.clearAttempt(after.seq)', replace: '' },
  {
    id: 'completed jobs are not counted',
    file: TRANSITIONS,
    find: "if (after.state === 'COMPLETED') core.meta.add('completed')",
    replace: '',
  },
  {
    id: 'leases survive the end of the container',
    file: TRANSITIONS,
    find: '  endLeases(core, worker.id, reason, nowMs, true, effects)\n',
    replace: '',
  },
  {
    id: 'no back-off after a failure',
    file: TRANSITIONS,
    find: 'notBeforeMs: nowMs + launchBackoffMs(failures)',
    replace: 'notBeforeMs: nowMs',
  },
  {
    id: 'a take with a job in hand proves nothing',
    file: POLLS,
    find: "if (call.query.get('job_in_progress') === '0') showIdleLeases(core, from)",
    replace: '',
  },
  {
    id: 'unknown boots may take',
    file: POLLS,
    find: "if (!worker || worker.phase === 'FAILED'",
    replace:
      "if (worker?.phase === 'FAILED' || !core.workers.get(from.workerId)) return 'refused'\n    if (!worker) return 'draining'\n    if (worker.phase === 'FAILED'",
  },
  { id: 'results are not fenced', file: POSTS, find: "if (verdict !== 'accept' && verdict !== 'accept-late') return", replace: '' },
  { id: 'a failed result completes', file: POSTS, find: "post.error === null ? 'COMPLETED' : 'FAILED'", replace: "'COMPLETED'" },
  {
    id: 'oversize results are kept without output',
    file: POSTS,
    find: 'const post: WorkerPost = body === null ? tooLarge()',
    replace: "const post: WorkerPost = body === null ? { kind: 'result', output: undefined, error: null, stopWorker: false }",
  },
  { id: 'stopPod ignored', file: POSTS, find: "if (post.kind === 'result' && post.stopWorker && worker)", replace: 'if (false)' },
  {
    id: 'pings renew nothing',
    file: OPERATIONS,
    find: 'if (listed.has(job.id)) core.jobs.save(job, renewLease(job, nowMs, core.leaseTimes))',
    replace: 'if (listed.has(job.id)) continue',
  },
  {
    id: 'missing pings ignored',
    file: OPERATIONS,
    find: '      core.jobs.save(job, missPing(job, nowMs))\n',
    replace: '',
  },
  {
    id: 'a worker that does not stop is not killed',
    file: OPERATIONS,
    find: '      killWorker(core, worker, order.jobId, nowMs, effects)\n',
    replace: '',
  },
  { id: 'unhealthy reports ignored', file: OPERATIONS, find: "if (call.query.get('status') === 'unhealthy') {", replace: 'if (false) {' },
  { id: 'stale workers get new jobs', file: DISPATCHER, find: '|| worker.version !== version', replace: '' },
  { id: 'a lost container keeps its row', file: REPORTS, find: 'if (now) forgetWorker(core, now, effects)', replace: '' },
  {
    id: 'terminal status before the last chunks',
    file: READS,
    find: 'const done = isTerminal(job.state) && !more',
    replace: 'const done = isTerminal(job.state)',
  },
  { id: 'stream errors dropped', file: READS, find: 'const error = done && job.error !== null', replace: 'const error = false' },
]
