import { dueAtMs, type EndedJob, factsOf, finishJob, type Holder, type Job, type QueuedJob, type RunningJob } from './job.ts'

/**
 * The lease of a running job: its start, its renewals and its end, by time or otherwise (LSE-1 to LSE-9). Pure: the time is passed as
 * `nowMs`.
 */

/** The ping interval `P`, milliseconds: the times of a lease are multiples of it. */
export interface LeaseTimes {
  pingIntervalMs: number
}

const ACK_INTERVALS = 3
/** Length of a lease, in ping intervals. */
export const LEASE_INTERVALS = 4
const MISSING_PINGS_LIMIT = 2
const RETRY_LIMIT = 1
/** LSE-30: upper bound of leases that no worker confirms: after these the job evidently does not reach its workers. */
const UNCONFIRMED_LIMIT = 10
/** LSE-22: upper bound of leases lost with a host: a job that crashes its machine must not crash one after another until its ttl. */
const HOST_LOSS_LIMIT = 20
/** LSE-3: time for a result in flight after a worker has shown that it holds no job. */
const RESULT_GRACE_MS = 2_000

/** The end reason of a lease that was renewed before. */
export const SILENT_WORKER = 'the worker stopped sending pings'
/** The end reason of a lease that was never renewed. */
export const UNCONFIRMED = 'the worker never confirmed the job'
const RESULT_LOST = 'result lost'
const TAKE_DOUBTED = 'the worker never confirmed the job, and the response with the job may have been lost'
const HOST_SILENT = 'its host went silent, and the worker has not reported the job since'
const PLANE_AWAY = 'the plane was unavailable, and the worker has not reported the job since'
const TAKE_LOST = 'the response with the job was lost between the plane and its host'
/** Texts that the previous release stored for these reasons: leases that run during an upgrade end by them. */
const STORED_REASONS: Readonly<Record<string, string>> = {
  'the worker never confirmed the job, and the answer that carried it may have been lost': TAKE_DOUBTED,
  'its host fell silent, and the worker has not shown the job since': HOST_SILENT,
  'the plane was away, and the worker has not shown the job since': PLANE_AWAY,
  'the answer to a take was lost between the plane and its host': TAKE_LOST,
}
const EXECUTION_TIMEOUT_ERROR = 'executionTimeout exceeded'

/** The reason for which a stored lease ends, in the text of this release. */
export function leaseEndReasonOf(stored: string): string {
  return STORED_REASONS[stored] ?? stored
}

/** LSE-9: whether this boot may lease the job. */
export function mayHold(job: Job, holder: Holder): boolean {
  return !job.pastHolders.includes(holderKey(holder))
}

function holderKey(holder: Holder): string {
  return `${holder.workerId}/${holder.boot}`
}

/** LSE-1: starts an attempt. */
export function leaseJob(job: QueuedJob, holder: Holder, nowMs: number, times: LeaseTimes): RunningJob {
  return {
    ...factsOf(job),
    state: 'IN_PROGRESS',
    attempt: job.attempt + 1,
    holder,
    pastHolders: [...job.pastHolders, holderKey(holder)],
    startedAtMs: nowMs,
    acked: false,
    leaseUntilMs: nowMs + ACK_INTERVALS * times.pingIntervalMs,
    leaseEndReason: UNCONFIRMED,
    missingPings: 0,
    delivery: null,
  }
}

/** LSE-2, LSE-4: renews the lease, because the holder has shown that it holds the job. */
export function renewLease(job: RunningJob, nowMs: number, times: LeaseTimes): RunningJob {
  // LSE-3 goes before LSE-4: a ping that crossed the take that showed the job lost does not restore the lease.
  if (isGivenUp(job)) return { ...job, acked: true, missingPings: 0 }
  return {
    ...job,
    acked: true,
    // A lease that waits for a silent host is not shortened by messages that still arrive (HOST-36).
    leaseUntilMs: Math.max(job.leaseUntilMs, nowMs + LEASE_INTERVALS * times.pingIntervalMs),
    leaseEndReason: SILENT_WORKER,
    missingPings: 0,
  }
}

/**
 * CHN-30: the agent of the holder's host answers for its pings until `untilMs`, milliseconds since the epoch. A lease that ends for another
 * reason than silence stays as it is.
 */
export function watchLease(job: RunningJob, untilMs: number): RunningJob {
  return job.leaseEndReason === SILENT_WORKER ? { ...job, leaseUntilMs: Math.max(job.leaseUntilMs, untilMs) } : job
}

/** CHN-30: no agent answers for the holder's pings any more. The lease of before lasts until `untilMs` at most. */
export function shortenLease(job: RunningJob, untilMs: number): RunningJob {
  return job.leaseEndReason === SILENT_WORKER ? { ...job, leaseUntilMs: Math.min(job.leaseUntilMs, untilMs) } : job
}

/** A chunk of the holder renews the lease and takes the next number, which no later attempt uses again (STR-10). */
export function addChunk(job: RunningJob, nowMs: number, times: LeaseTimes): RunningJob {
  return { ...renewLease(job, nowMs, times), chunks: job.chunks + 1 }
}

/** LSE-5: a ping of the holder that does not list the job. The second in a row ends the lease at once. */
export function missPing(job: RunningJob, nowMs: number): RunningJob {
  if (!job.acked) return job
  const missingPings = job.missingPings + 1
  if (missingPings < MISSING_PINGS_LIMIT) return { ...job, missingPings }
  return { ...job, missingPings, leaseUntilMs: nowMs, leaseEndReason: RESULT_LOST }
}

/**
 * LSE-3: the holder asked for work and stated that it holds none. `takeLost`: its host reports that the last answer did not arrive
 * (LSE-30).
 */
export function showIdle(job: RunningJob, nowMs: number, takeLost = false): RunningJob {
  const until = Math.min(job.leaseUntilMs, nowMs + RESULT_GRACE_MS)
  const wasLost =
    job.leaseEndReason === TAKE_LOST ||
    job.leaseEndReason === TAKE_DOUBTED ||
    (takeLost && !job.acked && job.leaseEndReason !== RESULT_LOST)
  return { ...job, leaseUntilMs: until, leaseEndReason: wasLost ? TAKE_LOST : RESULT_LOST }
}

/**
 * LSE-30: an answer to the holder was lost, perhaps the one with this job: if the holder then shows that it is idle, it never had the job.
 */
export function doubtTake(job: RunningJob): RunningJob {
  return job.acked || isGivenUp(job) ? job : { ...job, leaseEndReason: TAKE_DOUBTED }
}

/** Whether the holder has shown that it does not hold the job, or never held it. */
function isGivenUp({ leaseEndReason }: RunningJob): boolean {
  return leaseEndReason === RESULT_LOST || leaseEndReason === TAKE_LOST
}

/** HOST-36: the host of the holder is silent. The lease does not end before that host stops its work by itself. */
export function holdLease(job: RunningJob, untilMs: number): RunningJob {
  return excuseLease(job, untilMs, HOST_SILENT)
}

/**
 * LSE-34: the plane was down. The lease starts again, and silence does not count against the worker until it has pinged once more (LSE-20).
 */
export function restartLease(job: RunningJob, untilMs: number): RunningJob {
  return excuseLease(job, untilMs, PLANE_AWAY)
}

function excuseLease(job: RunningJob, untilMs: number, leaseEndReason: string): RunningJob {
  // Nothing waits for a worker that has shown that it does not hold the job (LSE-3).
  if (isGivenUp(job)) return job
  return { ...job, leaseUntilMs: Math.max(job.leaseUntilMs, untilMs), leaseEndReason }
}

/** HOST-36: the host of the holder is back, and the holder has until `untilMs` to show that it holds the job. */
export function resumeLease(job: RunningJob, untilMs: number): RunningJob {
  return isGivenUp(job) ? job : { ...job, leaseUntilMs: untilMs }
}

/**
 * The cost of a lost lease. `retry`: one retry. `unconfirmed`: nothing, because the attempt never began (LSE-30). `host`: nothing, because
 * a host, an agent or the plane lost it (LSE-20). Both of these have an upper bound. `free`: nothing, because the platform itself took the
 * job back (WRK-29).
 */
export type Loss = 'retry' | 'unconfirmed' | 'host' | 'free'

/** The cost of a lost lease: `host` if its host was silent or the plane was down, else `byDefault` (LSE-20). */
export function lossOf({ leaseEndReason }: RunningJob, byDefault: Loss): Loss {
  return leaseEndReason === HOST_SILENT || leaseEndReason === PLANE_AWAY ? 'host' : byDefault
}

/** LSE-8: ends a lease without a result: the job returns to the queue, or fails once a bound is reached. */
export function endLease(job: RunningJob, reason: string, nowMs: number, loss: Loss): QueuedJob | EndedJob {
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
    ...factsOf(job),
    state: 'IN_QUEUE',
    hostLosses,
    retries: job.retries + (loss === 'retry' ? 1 : 0),
    unconfirmed,
    lostAtMs: nowMs,
    errorDetail: reason,
  }
}

/** A change that time has made. */
export type Due =
  | { kind: 'none' }
  | { kind: 'delete'; wasRunning: boolean }
  | { kind: 'stop'; job: EndedJob }
  /** `takeLost`: the holder never had the job, as its host reports. */
  | { kind: 'lease-ended'; job: QueuedJob | EndedJob; reason: string; takeLost: boolean }

/** The change that time alone makes to a job (TMO-1, TMO-2, TMO-3, LSE). */
export function applyTime(job: Job, nowMs: number): Due {
  if (nowMs < dueAtMs(job)) return { kind: 'none' }
  if (nowMs >= job.ttlAtMs) return { kind: 'delete', wasRunning: job.state === 'IN_PROGRESS' }
  if (job.state !== 'IN_PROGRESS') return { kind: 'delete', wasRunning: false }
  if (nowMs >= job.startedAtMs + job.executionTimeoutMs) {
    return { kind: 'stop', job: finishJob(job, 'FAILED', nowMs, EXECUTION_TIMEOUT_ERROR, 'the job ran longer than its execution timeout') }
  }
  const reason = job.leaseEndReason
  // A job that the holder has shown lost may have run before any ping could confirm it: its result was dropped, or could not be sent
  // (WRK-19).
  const loss = lossOf(job, job.acked || reason === RESULT_LOST ? 'retry' : 'unconfirmed')
  return { kind: 'lease-ended', job: endLease(job, reason, nowMs, loss), reason, takeLost: loss === 'unconfirmed' && reason === TAKE_LOST }
}
