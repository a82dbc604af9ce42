/** A bug planted on purpose: `find` occurs exactly once in `file` and becomes `replace`. Some test must then fail. */
export interface Mutant {
  id: string
  file: string
  find: string
  replace: string
  /** Arguments of the run that must fail; without them the tests of its suite run. */
  tests?: readonly string[]
}

const JOB = 'src/domain/job/job.ts'
const DISPATCH = 'src/domain/job/dispatch.ts'
const SCALING = 'src/domain/worker/scaling.ts'
const PLACEMENT = 'src/domain/host/placement.ts'
const EXPLAIN = 'src/domain/job/explain.ts'
const SUBMIT = 'src/domain/job/submit.ts'
const POST = 'src/domain/job/worker-post.ts'
const RECORD = 'src/domain/job/record.ts'
const TEXT = 'src/domain/text/json-text.ts'
const SCAN = 'src/domain/text/json-scan.ts'
const WEBHOOK = 'src/domain/webhook/delivery.ts'
const WEBHOOK_PLACES = 'src/domain/webhook/places.ts'
const WEBHOOK_URL = 'src/domain/webhook/url.ts'
const ADDRESS = 'src/domain/webhook/ip-address.ts'
const OPENAI_TEXT = 'src/domain/openai/stream.ts'
const OPENAI_ERROR = 'src/domain/openai/error.ts'
const LOG_STREAM = 'src/domain/text/log-stream.ts'

/** Killed by the unit tests of the pure rules. */
export const DOMAIN_MUTANTS: readonly Mutant[] = [
  {
    id: 'why: two changes are offered where one would do',
    file: 'src/domain/why/search.ts',
    find: 'singles.length > 0 ? singles :',
    replace: 'singles.length > 99 ? singles :',
  },
  {
    id: 'why: the dearest option comes first',
    file: 'src/domain/why/search.ts',
    find: 'a.nanosPerHour - b.nanosPerHour',
    replace: 'b.nanosPerHour - a.nanosPerHour',
  },
  {
    id: 'why: the pod that saves most is the first to be stopped',
    file: 'src/domain/why/holders.ts',
    find: 'saved(a) - saved(b)',
    replace: 'saved(b) - saved(a)',
  },
  {
    id: 'why: an option without a trial',
    file: 'src/domain/why/pod-options.ts',
    find: 'if (!planned.ok) return null',
    replace: 'if (!planned.ok) return { nanosPerHour: 0, hostIds: [] }',
  },
  {
    id: 'why: the smallest size is forgotten',
    file: 'src/domain/why/rungs.ts',
    find: 'size >= least && size < asked',
    replace: 'size > least && size < asked - 100',
  },
  {
    id: 'requests go to the worker with the most',
    file: 'src/domain/balancer/choose-worker.ts',
    find: 'if (requests >= fewest) continue',
    replace: 'if (requests >= perWorker) continue',
  },
  {
    id: 'workers see the key of their caller',
    file: 'src/domain/balancer/headers.ts',
    find: "['authorization', 'expect']",
    replace: "['expect']",
  },
  {
    id: 'what one account takes leaves nothing to the next',
    file: 'src/host-protocol/fair-room.ts',
    find: '(total - othersTake) / 2',
    replace: 'total - othersTake',
  },
  {
    id: 'data beyond the window of a stream is taken',
    file: 'src/host-protocol/tunnel/stream.ts',
    find: 'if (bytes.length > this.receivable)',
    replace: 'if (bytes.length > this.receivable + 1e9)',
  },
  {
    id: 'a sender forgets what it has sent',
    file: 'src/host-protocol/tunnel/stream.ts',
    find: '      this.sendable -= part.length\n',
    replace: '',
  },
  { id: 'words of Python are replaced one by one', file: TEXT, find: 'const PART_CHARS = 32_768', replace: 'const PART_CHARS = 1' },
  { id: '[DONE] found inside a line', file: OPENAI_TEXT, find: '/(?:^|[\\r\\n])data: ?', replace: '/data: ?' },
  { id: '[DONE] forgotten', file: OPENAI_TEXT, find: 'sent.done || DONE_LINE.test(seen)', replace: 'DONE_LINE.test(seen)' },
  { id: 'pieces of [DONE] not put together', file: OPENAI_TEXT, find: 'const seen = sent.line + text', replace: 'const seen = text' },
  { id: 'a ping breaks an event in two', file: OPENAI_TEXT, find: 'isBetweenEvents(sent) ? PING : null', replace: 'PING' },
  { id: 'a half event swallows the next one', file: OPENAI_TEXT, find: "isBetweenEvents(sent) ? '' : '\\n\\n'", replace: "''" },
  { id: 'any number is a status', file: OPENAI_ERROR, find: 'Number(status) >= LOWEST_ERROR_STATUS', replace: 'Number(status) >= 100' },
  {
    id: 'a chunk takes no number',
    file: JOB,
    find: '...renewLease(job, nowMs, times), chunks: job.chunks + 1',
    replace: '...renewLease(job, nowMs, times)',
  },
  {
    id: 'an old cursor wins over a newer one',
    file: 'src/domain/text/sse.ts',
    find: '? Number(lastEventId) : from',
    replace: '? from || Number(lastEventId) : from',
  },
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
  {
    id: 'the newest post counts again',
    file: 'src/domain/job/delivery.ts',
    find: 'delivery.number <= last.number',
    replace: 'delivery.number < last.number',
  },
  {
    id: 'all agent processes share their numbers',
    file: 'src/domain/job/delivery.ts',
    find: 'last.session === delivery.session && ',
    replace: '',
  },
  {
    id: 'a new attempt remembers the posts of the last one',
    file: JOB,
    find: 'missingPings: 0,\n    delivery: null,',
    replace: 'missingPings: 0,',
  },
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
    find: 'leaseEndReason: SILENT_WORKER,\n    missingPings: 0,',
    replace: 'leaseEndReason: SILENT_WORKER,',
  },
  {
    id: 'idle grace extends a lease',
    file: JOB,
    find: 'Math.min(job.leaseUntilMs ?? Number.POSITIVE_INFINITY, nowMs + RESULT_GRACE_MS)',
    replace: 'nowMs + RESULT_GRACE_MS',
  },
  { id: 'idle grace of 3 s', file: JOB, find: 'RESULT_GRACE_MS = 2_000', replace: 'RESULT_GRACE_MS = 3_000' },
  { id: 'a third attempt', file: JOB, find: 'const RETRY_LIMIT = 1', replace: 'const RETRY_LIMIT = 2' },
  { id: 'uncounted requeue counts', file: JOB, find: "job.retries + (loss === 'retry' ? 1 : 0)", replace: 'job.retries + 1' },
  {
    id: 'uncounted requeue can fail',
    file: JOB,
    find: "if (loss === 'retry' && job.retries >= RETRY_LIMIT)",
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
    find: 'const needed = Math.min(wanted, ceiling)',
    replace: 'const needed = wanted',
  },
  { id: 'min ignored', file: SCALING, find: 'Math.max(inputs.min, demand.workers)', replace: 'Math.max(0, demand.workers)' },
  {
    id: 'busy workers count as free',
    file: SCALING,
    find: "(w) => w.phase !== 'READY' || isIdle(w))",
    replace: '() => true)',
  },
  {
    id: 'back-off ignored',
    file: SCALING,
    find: 'const mayLaunch = inputs.nowMs >= inputs.launchNotBeforeMs',
    replace: 'const mayLaunch = true',
  },
  {
    id: 'back-off one millisecond long',
    file: SCALING,
    find: 'inputs.nowMs >= inputs.launchNotBeforeMs',
    replace: 'inputs.nowMs > inputs.launchNotBeforeMs',
  },
  { id: 'idle timeout one millisecond long', file: SCALING, find: 'inputs.nowMs < expiryMs', replace: 'inputs.nowMs <= expiryMs' },
  { id: 'idle workers stop below min', file: SCALING, find: '    if (left <= kept) break\n', replace: '' },
  {
    id: 'a worker that finishes pushes an idle one out',
    file: SCALING,
    find: 'Math.min(wanted, inputs.max))',
    replace: 'needed)',
  },
  { id: 'no look at the next idle expiry', file: SCALING, find: 'nextAtMs = earliest(nextAtMs, expiryMs)', replace: 'continue' },
  { id: 'stale workers stay', file: SCALING, find: 'live.filter((w) => w.version !== inputs.version)', replace: '[]' },
  {
    id: 'busy stale workers are stopped',
    file: SCALING,
    find: 'stale.filter(isIdle).map',
    replace: 'stale.map',
  },
  { id: 'queue delay one millisecond long', file: SCALING, find: 'nowMs >= atMs).length', replace: 'nowMs > atMs).length' },
  { id: 'the first worker waits for the delay', file: SCALING, find: 'load.available === 0 && added <= 1', replace: 'false' },
  { id: 'workers that come are not counted', file: SCALING, find: 'Math.max(0, overdue - load.free)', replace: 'overdue' },
  {
    id: 'no look at the next queue delay',
    file: SCALING,
    find: 'find((atMs) => nowMs < atMs) ?? null',
    replace: 'find(() => false) ?? null',
  },
  {
    id: 'requests rounded down',
    file: SCALING,
    find: 'Math.ceil(load.requests / requestCount)',
    replace: 'Math.floor(load.requests / requestCount)',
  },
  {
    id: 'low priority work takes the place of a worker',
    file: SCALING,
    find: 'requestCount) + load.unavailable',
    replace: 'requestCount)',
  },
  { id: 'a thousand workers look for a host at once', file: SCALING, find: 'MAX_PLACING = 10', replace: 'MAX_PLACING = 1000' },
  { id: 'memory not compared', file: PLACEMENT, find: 'if (shape.memoryMb > host.memoryMbFree)', replace: 'if (false)' },
  { id: 'disk off by one', file: PLACEMENT, find: 'request.diskGb > host.diskGbFree', replace: 'request.diskGb > host.diskGbFree + 1' },
  {
    id: 'versions compared as text',
    file: PLACEMENT,
    find: 'compareVersions(version, minCudaVersion) >= 0',
    replace: 'version >= minCudaVersion',
  },
  { id: 'offline hosts get workers', file: PLACEMENT, find: "if (!host.online) failed.push('status: ONLINE > OFFLINE')", replace: '' },
  {
    id: 'the farthest miss is named',
    file: PLACEMENT,
    find: 'next.length < best.length ? next : best',
    replace: 'next.length > best.length ? next : best',
  },
  { id: 'low priority counts as trouble', file: EXPLAIN, find: 'return lowAlone()', replace: "return plain('NEXT', '.')" },
  {
    id: 'busy workers hide the lack of room',
    file: EXPLAIN,
    find: "if (trouble?.kind === 'capacity') {",
    replace: "if (trouble?.kind === 'capacity' && !hasReady) {",
  },
  { id: 'next without an idle worker', file: EXPLAIN, find: 'if (before === 0 && workers.idle > 0)', replace: 'if (before === 0)' },
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
    find: "if (terminal && job.error !== null) add('error'",
    replace: "if (job.error !== null) add('error'",
  },
  { id: 'a dead receiver takes every place', file: WEBHOOK_PLACES, find: 'isCrowded || held >= places', replace: 'isCrowded' },
  { id: 'a path that hangs takes every place', file: WEBHOOK_PLACES, find: 'isFailing ? 1 / 4 : 1 / 2', replace: '1' },
  { id: 'first attempts wait for retries', file: WEBHOOK_PLACES, find: 'attempt.lane === lane', replace: 'attempt.lane !== null' },
  { id: 'a webhook gets a fourth attempt', file: WEBHOOK, find: 'MAX_ATTEMPTS = 3', replace: 'MAX_ATTEMPTS = 4' },
  { id: 'a redirect counts as delivered', file: WEBHOOK, find: 'status < 300', replace: 'status < 400' },
  {
    id: 'a rotated secret signs a millisecond too long',
    file: WEBHOOK,
    find: 'nowMs < secrets.previous.untilMs',
    replace: 'nowMs <= secrets.previous.untilMs',
  },
  {
    id: 'the retry counts from the start of the attempt',
    file: WEBHOOK,
    find: '  return fail(ended, nowMs + RETRY_DELAY_MS)\n}\n\n/**\n * Ends an attempt',
    replace: '  return fail(ended, (delivery.startedAtMs ?? nowMs) + RETRY_DELAY_MS)\n}\n\n/**\n * Ends an attempt',
  },
  {
    id: 'http to the public internet',
    file: WEBHOOK_URL,
    find: "(url.protocol === 'http:' && listed)",
    replace: "url.protocol === 'http:'",
  },
  { id: 'a trailing dot hides a name', file: WEBHOOK_URL, find: "host.replace(/\\.+$/, '')", replace: 'host' },
  {
    id: 'credentials in a webhook URL',
    file: WEBHOOK_URL,
    find: "url.username !== '' || url.password !== ''",
    replace: "url.username !== ''",
  },
  { id: 'IPv6 is public unless listed', file: ADDRESS, find: 'within(GLOBAL_IPV6) && ', replace: '' },
  { id: '172.16/12 read as /16', file: ADDRESS, find: '172.16.0.0/12', replace: '172.16.0.0/16' },
  { id: 'retries 0 shown', file: RECORD, find: 'if (job.retries > 0)', replace: 'if (job.retries >= 0)' },
  {
    id: 'NaN inside strings replaced',
    file: TEXT,
    find: 'i = skipString(text, quote)\n      quote = nextQuote',
    replace: 'i = quote + 1\n      quote = nextQuote',
  },
  { id: 'any number of members', file: SUBMIT, find: 'if (shape.count > MAX_JSON_MEMBERS)', replace: 'if (false)' },
  { id: 'control characters in strings', file: SCAN, find: 'if (code < FIRST_PRINTABLE) return', replace: 'if (false) return' },
  { id: 'escaped quotes end strings', file: TEXT, find: 'if (backslashes % 2 === 0) return i', replace: 'return i' },
  {
    id: 'since beats Last-Event-ID',
    file: LOG_STREAM,
    find: 'if (lastEventId !== undefined) {',
    replace: 'if (lastEventId !== undefined && query.since === undefined) {',
  },
  {
    id: 'a log resumes within the second that was shown',
    file: LOG_STREAM,
    find: '(Math.floor(atMs / 1000) + 1) * 1000',
    replace: 'Math.floor(atMs / 1000) * 1000',
  },
  {
    id: 'a log keeps a line too many',
    file: LOG_STREAM,
    find: 'newest.n - n >= LOG_KEPT_LINES * factor',
    replace: 'newest.n - n > LOG_KEPT_LINES * factor',
  },
  {
    id: 'a log keeps a byte too many',
    file: LOG_STREAM,
    find: 'newest.endByte - endByte >= LOG_KEPT_BYTES * factor',
    replace: 'newest.endByte - endByte > LOG_KEPT_BYTES * factor',
  },
]

const TIMERS = 'src/queue/deadlines.ts'
const POLLS = 'durable-objects/endpoint/worker/worker-polls.ts'
const DISPATCHER = 'src/queue/dispatch.ts'
const READS = 'durable-objects/endpoint/client/client-reads.ts'
const OUTBOX = 'durable-objects/endpoint/outbox.ts'
const ATTEMPTS = 'durable-objects/webhook/attempts.ts'
const SEND = 'durable-objects/webhook/post.ts'
const SENDER = 'durable-objects/webhook-sender.ts'
const EVENT_REPLY = 'durable-objects/endpoint/event-reply.ts'
const OPENAI_STREAM = 'durable-objects/endpoint/openai/openai-stream.ts'
const JOBS = 'durable-objects/endpoint/store/jobs/job-store.ts'
const CAPACITY = 'src/effects/capacity.ts'
const POD_LOG = 'durable-objects/pod-log.ts'

/** Killed by the tests against the real objects in workerd. */
export const OBJECT_MUTANTS: readonly Mutant[] = [
  { id: 'a stream is read ahead of its reader', file: EVENT_REPLY, find: '{ highWaterMark: 0 }', replace: '{ highWaterMark: 1_000 }' },
  { id: '[DONE] and gone cancels the job', file: OPENAI_STREAM, find: 'if (!this.ended && !this.sent.done)', replace: 'if (!this.ended)' },
  {
    id: 'the next attempt is glued to the lost one',
    file: OPENAI_STREAM,
    find: 'if (job && this.isLost(job)) return this.giveUp()',
    replace: '',
  },
  {
    id: 'a chunk number is given twice',
    file: 'durable-objects/endpoint/store/jobs/job-row.ts',
    find: 'chunks: Number(row.chunks ?? 0)',
    replace: 'chunks: 0',
  },
  {
    id: 'an outage counts as silence',
    file: TIMERS,
    find: 'return armed !== null && nowMs - armed >= OUTAGE_INTERVALS',
    replace: 'return armed === 0 && nowMs - armed >= OUTAGE_INTERVALS',
  },
  {
    id: 'a job that waits already may be retried',
    file: 'src/domain/job/job.ts',
    find: 'if (!canRetry(job.state)) return `',
    replace: "if (!canRetry(job.state) && job.state !== 'IN_QUEUE') return `",
  },
  {
    id: 'a stop poll listens too late',
    file: POLLS,
    find: 'const woken = over ? null : core.parking.waitForStop(from.workerId, leftMs, signal)',
    replace: 'const woken = over ? null : Promise.resolve().then(() => core.parking.waitForStop(from.workerId, leftMs, signal))',
  },
  {
    id: 'small posts come without their number',
    file: 'src/objects/endpoint-calls.ts',
    find: 'parseDelivery(request.headers.get(DELIVERY_HEADER))',
    replace: 'null',
  },
  { id: 'stale workers get new jobs', file: DISPATCHER, find: '|| worker.version !== version', replace: '' },
  {
    id: 'terminal status before the last chunks',
    file: READS,
    find: 'const done = isTerminal(job.state) && !more',
    replace: 'const done = isTerminal(job.state)',
  },
  {
    id: 'a refused hand-over is forgotten',
    file: OUTBOX,
    find: 'const done = batch.filter((_, index) => taken[index])',
    replace: 'const done = batch',
  },
  {
    id: 'a delivery handed over twice at once is refused',
    file: SENDER,
    find: 'if (this.store.byId(handOver.id)) this.store.pieces.remove(n)',
    replace: 'if (false) this.store.pieces.remove(n)',
  },
  { id: 'a retry waits for what is due before it', file: ATTEMPTS, find: 'store.nextAtMs(nowMs)', replace: 'store.nextAtMs()' },
  {
    id: 'attempts cut off are forgotten',
    file: SENDER,
    find: '    this.attempts.recover(this.now())\n    watchSteps',
    replace: '    watchSteps',
  },
  { id: 'redirects are followed', file: SEND, find: "redirect: 'manual'", replace: "redirect: 'follow'" },
  { id: 'no guard before an attempt', file: SEND, find: 'if (refusal) return', replace: 'if (false) return' },
  { id: 'stream errors dropped', file: READS, find: 'const error = done && job.error !== null', replace: 'const error = false' },
  {
    id: 'low priority leases count for scaling',
    file: 'durable-objects/endpoint/store/jobs/leases.ts',
    find: '.filter((job) => !job.lowPriority)',
    replace: '',
  },
  { id: 'positions count the job itself', file: JOBS, find: 'AND low = ? AND order_key < ?`', replace: 'AND low = ? AND order_key <= ?`' },
  { id: 'every waiter is told', file: CAPACITY, find: 'const MAX_TOLD = 8', replace: 'const MAX_TOLD = 800' },
  { id: 'waiters that cannot use it are told', file: CAPACITY, find: '.candidates.length > 0', replace: '.candidates.length >= 0' },
  {
    id: 'useless rows stay in front',
    file: CAPACITY,
    find: "if (!(await endpointStub(env, asPlane('endpoint', id, 'capacity appeared')).capacityAppeared())) await removeCapacityWaiter(db, id)",
    replace: "await endpointStub(env, asPlane('endpoint', id, 'capacity appeared')).capacityAppeared()",
  },
  { id: 'repeated log lines are taken again', file: POD_LOG, find: 'const isNew = line.seq > last', replace: 'const isNew = true' },
  {
    id: 'a foreign log is readable',
    file: POD_LOG,
    find: 'owner ? owner.kind === kind && owner.ownerId === ownerId : isKnown',
    replace: 'owner ? true : isKnown',
  },
  {
    id: 'the log of a silent worker is deleted',
    file: POD_LOG,
    find: 'if (await this.hasOwner(owner, last.workloadId)) return true',
    replace: '',
  },
  {
    id: 'any host writes any log',
    file: 'src/effects/log-access.ts',
    find: 'if (!(await isGranted(env, host.id, workloadId, access))) return null',
    replace: '',
  },
]
