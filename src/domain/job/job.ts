import type { JobState } from '../../contract/enums.ts'
/**
 * One job of a queue: its record, its lease and every transition (JOB-11). Pure: the time comes in as `nowMs`.
 * Anything that ends a deadline uses `now >= deadline`, so a deadline is the first instant at which it has passed.
 */

/** Who holds a lease: a worker and one start of its container (LSE-6). */
export interface Holder {
  workerId: string
  boot: string
}

export interface Job {
  readonly seq: number
  readonly id: string
  readonly state: JobState
  readonly lowPriority: boolean
  /** Where to say that the job is over (HOOK-1); null for nowhere. */
  readonly webhook: string | null
  /** Place in the queue among jobs of the same priority; kept over a requeue, so that the job returns to the head (LSE-8). */
  readonly orderKey: number
  readonly createdAtMs: number
  readonly ttlAtMs: number
  readonly executionTimeoutMs: number
  readonly retentionMs: number
  /** The worker gets an `s3Config` with it, which is wiped when the job ends. */
  readonly hasS3Config: boolean
  /** Number of leases so far; never goes back. */
  readonly attempt: number
  /** Attempts lost since the submit or the last retry. */
  readonly retries: number
  /** Leases since then that ended before their holder had shown that it holds the job: nobody has begun it. */
  readonly unconfirmed: number
  /** Leases since then that a host, an agent or the plane lost: no attempt of the job failed (LSE-20). */
  readonly hostLosses: number
  /** Holder of the current or, once it ended, of the last attempt. */
  readonly holder: Holder | null
  /** Every earlier holder as `worker/boot`: none of them may hold this job again (LSE-9). */
  readonly pastHolders: readonly string[]
  readonly startedAtMs: number | null
  readonly acked: boolean
  /** IN_PROGRESS: when the lease ends. Afterwards: when the last attempt ended, if it ended without a result; else null. */
  readonly leaseUntilMs: number | null
  /** Why the lease would end at `leaseUntilMs`. */
  readonly leaseEndReason: string
  readonly missingPings: number
  readonly finishedAtMs: number | null
  readonly error: string | null
  readonly errorDetail: string | null
  /** Stream chunks so far, over all attempts; the number of the newest one (STR-10). */
  readonly chunks: number
  /** The newest post that changed the running attempt, as its host numbered it (HOST-22). */
  readonly delivery: string | null
}

/** The ping interval `P` and what follows from it, milliseconds. */
export interface LeaseTimes {
  pingIntervalMs: number
}

const ACK_INTERVALS = 3
export const LEASE_INTERVALS = 4
const MISSING_PINGS_LIMIT = 2
const RETRY_LIMIT = 1
/** PP-175: handed out that often without a sign of life, a job does not get through to its workers. */
const UNCONFIRMED_LIMIT = 10
/** LSE-22: a job that takes its machine down with it must not take down one after another until its ttl. */
const HOST_LOSS_LIMIT = 20
/** LSE-3: time for a result in flight once a worker has shown that it holds no job. */
const RESULT_GRACE_MS = 2_000

/** A lease that was renewed, and ends because nothing renewed it again. */
export const SILENT_WORKER = 'the worker stopped sending pings'
const RESULT_LOST = 'result lost'
const TAKE_DOUBTED = 'the worker never confirmed the job, and the answer that carried it may have been lost'
const HOST_SILENT = 'its host fell silent, and the worker has not shown the job since'
const PLANE_AWAY = 'the plane was away, and the worker has not shown the job since'
const TAKE_LOST = 'the answer to a take was lost between the plane and its host'
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

/** LSE-9: true when this boot may be given the job. */
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

/** LSE-2, LSE-4: the holder has shown that it holds the job. */
export function renewLease(job: Job, nowMs: number, times: LeaseTimes): Job {
  // LSE-4 excepts LSE-3: a ping that crossed the take which showed the job lost does not bring it back.
  if (isGivenUp(job)) return { ...job, acked: true, missingPings: 0 }
  return {
    ...job,
    acked: true,
    // A lease that waits for a silent host is not shortened by what still comes through (HOST-36).
    leaseUntilMs: Math.max(job.leaseUntilMs ?? 0, nowMs + LEASE_INTERVALS * times.pingIntervalMs),
    leaseEndReason: SILENT_WORKER,
    missingPings: 0,
  }
}

/** A chunk of the holder: it renews the lease, and takes the next number, which no later attempt gives away again (STR-10). */
export function addChunk(job: Job, nowMs: number, times: LeaseTimes): Job {
  return { ...renewLease(job, nowMs, times), chunks: job.chunks + 1 }
}

/** LSE-5: a ping of the holder that does not list the job. Ends the lease now when it was the second in a row. */
export function missPing(job: Job, nowMs: number): Job {
  if (!job.acked) return job
  const missingPings = job.missingPings + 1
  if (missingPings < MISSING_PINGS_LIMIT) return { ...job, missingPings }
  return { ...job, missingPings, leaseUntilMs: nowMs, leaseEndReason: RESULT_LOST }
}

/** LSE-3: the holder asked for work while saying that it holds none. `takeLost`: its host says that the last answer never came (PP-175). */
export function showIdle(job: Job, nowMs: number, takeLost = false): Job {
  const until = Math.min(job.leaseUntilMs ?? Number.POSITIVE_INFINITY, nowMs + RESULT_GRACE_MS)
  const wasLost =
    job.leaseEndReason === TAKE_LOST ||
    job.leaseEndReason === TAKE_DOUBTED ||
    (takeLost && !job.acked && job.leaseEndReason !== RESULT_LOST)
  return { ...job, leaseUntilMs: until, leaseEndReason: wasLost ? TAKE_LOST : RESULT_LOST }
}

/** PP-175: an answer to the holder was lost, perhaps the one that carried this job: should it show itself idle, it never had it. */
export function doubtTake(job: Job): Job {
  return job.acked || isGivenUp(job) ? job : { ...job, leaseEndReason: TAKE_DOUBTED }
}

/** The holder has shown that it holds the job no longer, or never did. */
function isGivenUp({ leaseEndReason }: Job): boolean {
  return leaseEndReason === RESULT_LOST || leaseEndReason === TAKE_LOST
}

/** HOST-36: the host of the holder is silent. The lease ends no earlier than that host stops its work by itself. */
export function holdLease(job: Job, untilMs: number): Job {
  return excuseLease(job, untilMs, HOST_SILENT)
}

/** PP-13: the plane was away. The lease starts again, and silence is not the worker's until it has pinged once more (LSE-20). */
export function restartLease(job: Job, untilMs: number): Job {
  return excuseLease(job, untilMs, PLANE_AWAY)
}

function excuseLease(job: Job, untilMs: number, leaseEndReason: string): Job {
  // A worker that has shown that it holds the job no longer (LSE-3) is waited for by nobody.
  if (isGivenUp(job)) return job
  return { ...job, leaseUntilMs: Math.max(job.leaseUntilMs ?? 0, untilMs), leaseEndReason }
}

/** HOST-36: the host of the holder is there again, and the holder gets until then to show itself. */
export function resumeLease(job: Job, untilMs: number): Job {
  return isGivenUp(job) ? job : { ...job, leaseUntilMs: untilMs }
}

/**
 * What the loss of a lease costs the job: a retry; nothing, because it never began (PP-175) or a host, an agent or the plane lost it
 * (LSE-20), though neither for ever; or nothing at all, because the platform itself took it back (WRK-29).
 */
export type Loss = 'retry' | 'unconfirmed' | 'host' | 'free'

/** What the loss of a lease costs by what came before it; `byDefault` when nothing did (LSE-20). */
export function lossOf({ leaseEndReason }: Job, byDefault: Loss): Loss {
  return leaseEndReason === HOST_SILENT || leaseEndReason === PLANE_AWAY ? 'host' : byDefault
}

/** LSE-8: a lease that ends without a result. */
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

/** Any transition into a terminal state. */
export function finishJob(job: Job, state: JobState, nowMs: number, error: string | null = null, errorDetail: string | null = null): Job {
  // JOB-5: a job that is cancelled while it waits again has not been executing since its lease ended.
  const ranNoLonger = job.state === 'IN_QUEUE' && (state === 'CANCELLED' || state === 'TIMED_OUT')
  const leaseUntilMs = ranNoLonger ? job.leaseUntilMs : null
  return { ...job, state, finishedAtMs: nowMs, error, errorDetail, leaseUntilMs, leaseEndReason: '', missingPings: 0 }
}

/** CTL-2: back to the tail of the queue under a new order key; the attempt number goes on counting. */
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

/** Why a job cannot be retried (CTL-2), or null when it can. */
export function refuseRetry(job: Job): string | null {
  if (!canRetry(job.state)) return `job ${job.id} is ${job.state}; only FAILED and TIMED_OUT jobs can be retried`
  return null
}

export type Verdict = 'accept' | 'accept-late' | 'duplicate' | 'superseded'

/** LSE-10, LSE-11: may this post of `from` change the job? `final` is false for progress and chunks. */
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
  /** `takeLost`: the holder never had the job, says its host. */
  | { kind: 'lease-ended'; job: Job; reason: string; takeLost: boolean }

/** What the passing of time does to a job (TMO-1, TMO-2, TMO-3, LSE). */
export function applyTime(job: Job, nowMs: number): Due {
  if (nowMs < dueAtMs(job)) return { kind: 'none' }
  if (nowMs >= job.ttlAtMs) return { kind: 'delete', wasRunning: job.state === 'IN_PROGRESS' }
  if (isTerminal(job.state)) return { kind: 'delete', wasRunning: false }
  if (nowMs >= (job.startedAtMs ?? 0) + job.executionTimeoutMs) {
    return { kind: 'stop', job: finishJob(job, 'FAILED', nowMs, EXECUTION_TIMEOUT_ERROR, 'the job ran longer than its execution timeout') }
  }
  const reason = job.leaseEndReason
  // One that the holder has shown lost may have run before any ping could tell: its result was dropped, or could not be sent (WRK-19).
  const loss = lossOf(job, job.acked || reason === RESULT_LOST ? 'retry' : 'unconfirmed')
  return { kind: 'lease-ended', job: endLease(job, reason, nowMs, loss), reason, takeLost: loss === 'unconfirmed' && reason === TAKE_LOST }
}
