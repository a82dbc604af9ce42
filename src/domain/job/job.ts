import type { JobState } from '../../contract/enums.ts'
/**
 * One job of a queue: its record, its lease and every transition (JOB-11). Pure: the time is passed as `nowMs`. Every check of a deadline
 * uses `now >= deadline`, so a deadline is the first instant at which it has passed.
 */

/** The holder of a lease: a worker and one start of its container (LSE-6). */
export interface Holder {
  workerId: string
  boot: string
}

export interface Job {
  readonly seq: number
  readonly id: string
  readonly state: JobState
  readonly lowPriority: boolean
  /** The URL to notify when the job is over (HOOK-1); null: none. */
  readonly webhook: string | null
  /** Place in the queue among jobs of the same priority; a requeue does not change it, so that the job returns to the head (LSE-8). */
  readonly orderKey: number
  readonly createdAtMs: number
  readonly ttlAtMs: number
  readonly executionTimeoutMs: number
  readonly retentionMs: number
  /** The worker gets an `s3Config` with the job, which is wiped when the job ends. */
  readonly hasS3Config: boolean
  /** Number of leases so far; it never decreases. */
  readonly attempt: number
  /** Attempts lost since the submit or the last retry. */
  readonly retries: number
  /** Leases since then that ended before the holder confirmed the job: no worker has begun it. */
  readonly unconfirmed: number
  /** Leases since then that ended because of a host, an agent or the plane: no attempt of the job failed (LSE-20). */
  readonly hostLosses: number
  /** Holder of the current attempt or, once that has ended, of the last one. */
  readonly holder: Holder | null
  /** Every earlier holder as `worker/boot`: none of them may hold this job again (LSE-9). */
  readonly pastHolders: readonly string[]
  readonly startedAtMs: number | null
  readonly acked: boolean
  /** IN_PROGRESS: when the lease ends. Afterwards: when the last attempt ended, if it ended without a result; else null. */
  readonly leaseUntilMs: number | null
  /** The reason that the lease would end with at `leaseUntilMs`. */
  readonly leaseEndReason: string
  readonly missingPings: number
  readonly finishedAtMs: number | null
  readonly error: string | null
  readonly errorDetail: string | null
  /** Stream chunks so far, over all attempts, which is also the number of the newest one (STR-10). */
  readonly chunks: number
  /** The newest post that changed the running attempt, as its host numbered it (HOST-22). */
  readonly delivery: string | null
}

/** The ping interval `P`, milliseconds: the times of a lease are multiples of it. */
export interface LeaseTimes {
  pingIntervalMs: number
}

const ACK_INTERVALS = 3
export const LEASE_INTERVALS = 4
const MISSING_PINGS_LIMIT = 2
const RETRY_LIMIT = 1
/** PP-175: upper bound of leases that no worker confirms: after these the job evidently does not reach its workers. */
const UNCONFIRMED_LIMIT = 10
/** LSE-22: upper bound of leases lost with a host: a job that crashes its machine must not crash one after another until its ttl. */
const HOST_LOSS_LIMIT = 20
/** LSE-3: time for a result in flight after a worker has shown that it holds no job. */
const RESULT_GRACE_MS = 2_000

/** The end reason of a lease that was renewed before. */
export const SILENT_WORKER = 'the worker stopped sending pings'
const RESULT_LOST = 'result lost'
const TAKE_DOUBTED = 'the worker never confirmed the job, and the response with the job may have been lost'
const HOST_SILENT = 'its host went silent, and the worker has not reported the job since'
const PLANE_AWAY = 'the plane was unavailable, and the worker has not reported the job since'
const TAKE_LOST = 'the response with the job was lost between the plane and its host'
const EXECUTION_TIMEOUT_ERROR = 'executionTimeout exceeded'

/** A job as it is right after its submission, at the tail of its priority. */
export function submitJob(
  given: Pick<
    Job,
    'seq' | 'id' | 'lowPriority' | 'webhook' | 'createdAtMs' | 'ttlAtMs' | 'executionTimeoutMs' | 'retentionMs' | 'hasS3Config'
  >,
): Job {
  return {
    ...given,
    state: 'IN_QUEUE',
    orderKey: given.seq,
    attempt: 0,
    retries: 0,
    unconfirmed: 0,
    hostLosses: 0,
    holder: null,
    pastHolders: [],
    startedAtMs: null,
    acked: false,
    leaseUntilMs: null,
    leaseEndReason: '',
    missingPings: 0,
    finishedAtMs: null,
    error: null,
    errorDetail: null,
    chunks: 0,
    delivery: null,
  }
}

export function isTerminal(state: JobState): boolean {
  return state !== 'IN_QUEUE' && state !== 'IN_PROGRESS'
}

export function sameHolder(a: Holder | null, b: Holder): boolean {
  return a !== null && a.workerId === b.workerId && a.boot === b.boot
}

/** LSE-9: whether this boot may lease the job. */
export function mayHold(job: Job, holder: Holder): boolean {
  return !job.pastHolders.includes(holderKey(holder))
}

function holderKey(holder: Holder): string {
  return `${holder.workerId}/${holder.boot}`
}

/** LSE-1: starts an attempt. */
export function leaseJob(job: Job, holder: Holder, nowMs: number, times: LeaseTimes): Job {
  return {
    ...job,
    state: 'IN_PROGRESS',
    attempt: job.attempt + 1,
    holder,
    pastHolders: [...job.pastHolders, holderKey(holder)],
    startedAtMs: nowMs,
    acked: false,
    leaseUntilMs: nowMs + ACK_INTERVALS * times.pingIntervalMs,
    leaseEndReason: 'the worker never confirmed the job',
    missingPings: 0,
    delivery: null,
  }
}

/** LSE-2, LSE-4: renews the lease, because the holder has shown that it holds the job. */
export function renewLease(job: Job, nowMs: number, times: LeaseTimes): Job {
  // LSE-3 goes before LSE-4: a ping that crossed the take that showed the job lost does not restore the lease.
  if (isGivenUp(job)) return { ...job, acked: true, missingPings: 0 }
  return {
    ...job,
    acked: true,
    // A lease that waits for a silent host is not shortened by messages that still arrive (HOST-36).
    leaseUntilMs: Math.max(job.leaseUntilMs ?? 0, nowMs + LEASE_INTERVALS * times.pingIntervalMs),
    leaseEndReason: SILENT_WORKER,
    missingPings: 0,
  }
}

/** A chunk of the holder renews the lease and takes the next number, which no later attempt uses again (STR-10). */
export function addChunk(job: Job, nowMs: number, times: LeaseTimes): Job {
  return { ...renewLease(job, nowMs, times), chunks: job.chunks + 1 }
}

/** LSE-5: a ping of the holder that does not list the job. The second in a row ends the lease at once. */
export function missPing(job: Job, nowMs: number): Job {
  if (!job.acked) return job
  const missingPings = job.missingPings + 1
  if (missingPings < MISSING_PINGS_LIMIT) return { ...job, missingPings }
  return { ...job, missingPings, leaseUntilMs: nowMs, leaseEndReason: RESULT_LOST }
}

/**
 * LSE-3: the holder asked for work and stated that it holds none. `takeLost`: its host reports that the last answer did not arrive
 * (PP-175).
 */
export function showIdle(job: Job, nowMs: number, takeLost = false): Job {
  const until = Math.min(job.leaseUntilMs ?? Number.POSITIVE_INFINITY, nowMs + RESULT_GRACE_MS)
  const wasLost =
    job.leaseEndReason === TAKE_LOST ||
    job.leaseEndReason === TAKE_DOUBTED ||
    (takeLost && !job.acked && job.leaseEndReason !== RESULT_LOST)
  return { ...job, leaseUntilMs: until, leaseEndReason: wasLost ? TAKE_LOST : RESULT_LOST }
}

/**
 * PP-175: an answer to the holder was lost, perhaps the one with this job: if the holder then shows that it is idle, it never had the job.
 */
export function doubtTake(job: Job): Job {
  return job.acked || isGivenUp(job) ? job : { ...job, leaseEndReason: TAKE_DOUBTED }
}

/** Whether the holder has shown that it does not hold the job, or never held it. */
function isGivenUp({ leaseEndReason }: Job): boolean {
  return leaseEndReason === RESULT_LOST || leaseEndReason === TAKE_LOST
}

/** HOST-36: the host of the holder is silent. The lease does not end before that host stops its work by itself. */
export function holdLease(job: Job, untilMs: number): Job {
  return excuseLease(job, untilMs, HOST_SILENT)
}

/**
 * PP-13: the plane was down. The lease starts again, and silence does not count against the worker until it has pinged once more (LSE-20).
 */
export function restartLease(job: Job, untilMs: number): Job {
  return excuseLease(job, untilMs, PLANE_AWAY)
}

function excuseLease(job: Job, untilMs: number, leaseEndReason: string): Job {
  // Nothing waits for a worker that has shown that it does not hold the job (LSE-3).
  if (isGivenUp(job)) return job
  return { ...job, leaseUntilMs: Math.max(job.leaseUntilMs ?? 0, untilMs), leaseEndReason }
}

/** HOST-36: the host of the holder is back, and the holder has until `untilMs` to show that it holds the job. */
export function resumeLease(job: Job, untilMs: number): Job {
  return isGivenUp(job) ? job : { ...job, leaseUntilMs: untilMs }
}

/**
 * The cost of a lost lease. `retry`: one retry. `unconfirmed`: nothing, because the attempt never began (PP-175). `host`: nothing, because
 * a host, an agent or the plane lost it (LSE-20). Both of these have an upper bound. `free`: nothing, because the platform itself took the
 * job back (WRK-29).
 */
export type Loss = 'retry' | 'unconfirmed' | 'host' | 'free'

/** The cost of a lost lease: `host` if its host was silent or the plane was down, else `byDefault` (LSE-20). */
export function lossOf({ leaseEndReason }: Job, byDefault: Loss): Loss {
  return leaseEndReason === HOST_SILENT || leaseEndReason === PLANE_AWAY ? 'host' : byDefault
}

/** LSE-8: ends a lease without a result: the job returns to the queue, or fails once a bound is reached. */
export function endLease(job: Job, reason: string, nowMs: number, loss: Loss): Job {
  if (loss === 'retry' && job.retries >= RETRY_LIMIT) {
    return finishJob(job, 'FAILED', nowMs, `job timed out after ${RETRY_LIMIT} retries`, reason)
  }
  const unconfirmed = job.unconfirmed + (loss === 'unconfirmed' ? 1 : 0)
  if (unconfirmed >= UNCONFIRMED_LIMIT) {
    return finishJob(job, 'FAILED', nowMs, `no worker confirmed the job, which was handed out ${UNCONFIRMED_LIMIT} times`, reason)
  }
  const hostLosses = job.hostLosses + (loss === 'host' ? 1 : 0)
  if (hostLosses >= HOST_LOSS_LIMIT)
    return finishJob(job, 'FAILED', nowMs, `the job was lost with its host ${HOST_LOSS_LIMIT} times`, reason)
  return {
    ...job,
    state: 'IN_QUEUE',
    hostLosses,
    retries: job.retries + (loss === 'retry' ? 1 : 0),
    unconfirmed,
    leaseUntilMs: nowMs,
    leaseEndReason: '',
    acked: false,
    missingPings: 0,
    errorDetail: reason,
  }
}

/** Moves a job into a terminal state. */
export function finishJob(job: Job, state: JobState, nowMs: number, error: string | null = null, errorDetail: string | null = null): Job {
  // JOB-5: a job that is cancelled while it is queued again has not been executing since its lease ended.
  const ranNoLonger = job.state === 'IN_QUEUE' && (state === 'CANCELLED' || state === 'TIMED_OUT')
  const leaseUntilMs = ranNoLonger ? job.leaseUntilMs : null
  return { ...job, state, finishedAtMs: nowMs, error, errorDetail, leaseUntilMs, leaseEndReason: '', missingPings: 0 }
}

/** CTL-2: moves a job to the tail of the queue under a new order key; `attempt` continues to count. */
export function retryJob(job: Job, orderKey: number): Job {
  return {
    ...job,
    state: 'IN_QUEUE',
    orderKey,
    retries: 0,
    unconfirmed: 0,
    hostLosses: 0,
    finishedAtMs: null,
    error: null,
    errorDetail: null,
    startedAtMs: null,
    leaseUntilMs: null,
    holder: null,
  }
}

export function canRetry(state: JobState): boolean {
  return state === 'FAILED' || state === 'TIMED_OUT'
}

/** The reason why a job cannot be retried (CTL-2), or null if it can. */
export function refuseRetry(job: Job): string | null {
  if (!canRetry(job.state)) return `job ${job.id} is ${job.state}; only FAILED and TIMED_OUT jobs can be retried`
  return null
}

export type Verdict = 'accept' | 'accept-late' | 'duplicate' | 'superseded'

/** LSE-10, LSE-11: whether this post of `from` may change the job. `final` is false for progress and chunks. */
export function judgePost(job: Job, from: Holder, final: boolean): Verdict {
  const last = sameHolder(job.holder, from)
  if (last && job.state === 'IN_PROGRESS') return 'accept'
  if (last && job.state === 'IN_QUEUE' && final) return 'accept-late'
  if (last && final && isTerminal(job.state)) return 'duplicate'
  return 'superseded'
}

/** The next instant at which time alone changes this job. */
export function dueAtMs(job: Job): number {
  if (job.state === 'IN_QUEUE') return job.ttlAtMs
  if (job.state === 'IN_PROGRESS') {
    return Math.min(job.ttlAtMs, job.leaseUntilMs ?? job.ttlAtMs, (job.startedAtMs ?? job.createdAtMs) + job.executionTimeoutMs)
  }
  return Math.min(job.ttlAtMs, (job.finishedAtMs ?? job.createdAtMs) + job.retentionMs)
}

export type Due =
  | { kind: 'none' }
  | { kind: 'delete'; wasRunning: boolean }
  | { kind: 'stop'; job: Job }
  /** `takeLost`: the holder never had the job, as its host reports. */
  | { kind: 'lease-ended'; job: Job; reason: string; takeLost: boolean }

/** The change that time alone makes to a job (TMO-1, TMO-2, TMO-3, LSE). */
export function applyTime(job: Job, nowMs: number): Due {
  if (nowMs < dueAtMs(job)) return { kind: 'none' }
  if (nowMs >= job.ttlAtMs) return { kind: 'delete', wasRunning: job.state === 'IN_PROGRESS' }
  if (isTerminal(job.state)) return { kind: 'delete', wasRunning: false }
  if (nowMs >= (job.startedAtMs ?? 0) + job.executionTimeoutMs) {
    return { kind: 'stop', job: finishJob(job, 'FAILED', nowMs, EXECUTION_TIMEOUT_ERROR, 'the job ran longer than its execution timeout') }
  }
  const reason = job.leaseEndReason
  // A job that the holder has shown lost may have run before any ping could confirm it: its result was dropped, or could not be sent
  // (WRK-19).
  const loss = lossOf(job, job.acked || reason === RESULT_LOST ? 'retry' : 'unconfirmed')
  return { kind: 'lease-ended', job: endLease(job, reason, nowMs, loss), reason, takeLost: loss === 'unconfirmed' && reason === TAKE_LOST }
}
