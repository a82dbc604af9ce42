import type { Mutant } from './table.ts'

// Bugs of the checks before the queue: limits, idempotency keys, retention and secrets of a submit.

const LIMITS = 'src/domain/job/limits.ts'
const KEYS = 'src/domain/idempotency.ts'
const S3 = 'src/domain/job/s3-config.ts'
const RETENTION = 'src/domain/job/retention.ts'
const BODY = 'src/domain/text/body-length.ts'

/** Killed by the unit tests of the pure rules. */
export const SUBMIT_DOMAIN_MUTANTS: readonly Mutant[] = [
  { id: 'one call too many in a window', file: LIMITS, find: 'if (count >= rate)', replace: 'if (count > rate)' },
  { id: 'one call too many at a time', file: LIMITS, find: 'spending.active >= concurrent', replace: 'spending.active > concurrent' },
  { id: 'windows never end', file: LIMITS, find: 'spending.window === windowOf(nowMs) ?', replace: 'spending.window <= windowOf(nowMs) ?' },
  {
    id: 'workers lower limits',
    file: LIMITS,
    find: 'const rate = Math.max(limit.rate, floor)',
    replace: 'const rate = floor || limit.rate',
  },
  { id: 'workers lift the rate alone', file: LIMITS, find: 'Math.max(limit.concurrent, floor)', replace: 'limit.concurrent' },
  { id: 'retry comes too early', file: LIMITS, find: 'Math.ceil(leftMs / 1000)', replace: 'Math.floor(leftMs / 1000)' },
  { id: 'a key expires late', file: KEYS, find: 'nowMs >= record.createdAtMs', replace: 'nowMs > record.createdAtMs' },
  { id: 'a key covers every request', file: KEYS, find: "fingerprint ? 'repeat' : 'misuse'", replace: "fingerprint ? 'repeat' : 'repeat'" },
  {
    id: 'unknown s3Config members are kept',
    file: S3,
    find: 'const kept: Record<string, string> = {}',
    replace: 'const kept = value as Record<string, string>',
  },
  { id: 'a chunked body is believed its length', file: BODY, find: " || headers.get('transfer-encoding') !== null", replace: '' },
  { id: 'a wait shortens a longer retention', file: RETENTION, find: 'return Math.max(override', replace: 'return Math.min(override' },
  { id: 'a wait lengthens without bound', file: RETENTION, find: 'Math.min(MAX_WAIT_RETENTION_MS, waitMs)', replace: 'waitMs' },
]

const CALLS = 'durable-objects/endpoint/call-limits.ts'
const SUBMISSIONS = 'durable-objects/endpoint/client/submissions.ts'
const CALLER = 'src/objects/caller.ts'

/** Killed by the tests against the real objects in workerd. */
export const SUBMIT_OBJECT_MUTANTS: readonly Mutant[] = [
  { id: 'slot leak: a failed call keeps its slot', file: CALLS, find: '    release()\n    throw error', replace: '    throw error' },
  {
    id: 'slot leak: a small call keeps its slot',
    file: 'durable-objects/endpoint/client/entrance.ts',
    find: '    entry?.release()\n',
    replace: '',
  },
  {
    id: 'slot leak: an event stream that nobody reads keeps its slot',
    file: CALLS,
    find: '      ended()\n      await reader.cancel',
    replace: '      await reader.cancel',
  },
  {
    id: 'slot leak: a cut connection behind a full stream',
    file: CALLS,
    find: "left?.addEventListener('abort', release, { once: true })",
    replace: '',
  },
  { id: 'slot freed before the stream ends', file: CALLS, find: 'if (!response.body || !isStream) {', replace: 'if (response) {' },
  { id: 'limits shared by all users', file: CALLS, find: 'this.spendingOf(`${bucket} ${userId}`', replace: 'this.spendingOf(`${bucket}`' },
  {
    id: 'a refused call counts',
    file: CALLS,
    find: 'if (refusal)',
    replace: 'if (refusal) spending.count++\n    if (refusal)',
  },
  { id: 'a client names itself exempt', file: CALLER, find: 'else named.headers.delete(EXEMPT_HEADER)', replace: '' },
  { id: 'the operation is no part of a request', file: SUBMISSIONS, find: '`${operation}\\n${', replace: '`${' },
  {
    id: 'a repeat of a running /runsync waits too',
    file: SUBMISSIONS,
    find: 'if (isTerminal(job.state)) return recordReply',
    replace: 'if (job) return recordReply',
  },
  {
    id: 's3Config outlives its job',
    file: 'durable-objects/endpoint/store/jobs/payload-store.ts',
    find: "else this.sql.exec('DELETE FROM pieces WHERE job = ?', job)",
    replace: "else this.sql.exec('DELETE FROM pieces WHERE job = ? AND kind <> 2', job)",
  },
]
