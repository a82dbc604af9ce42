import type { JobState } from '../../contract/enums.ts'

/**
 * One job of a queue: its record, its submission, end and retry (JOB-11); lease.ts has its attempts. Pure: the time is passed as `nowMs`.
 * Every check of a deadline uses `now >= deadline`, so a deadline is the first instant at which it has passed.
 */

/** The holder of a lease: a worker and one start of its container (LSE-6). */
export interface Holder {
  workerId: string
  boot: string
}

/** Fields of a job in every state. */
interface JobFacts {
  readonly seq: number
  readonly id: string
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
  /** Holder of the current attempt or, once that has ended, of the last one; null: none since the submit or the last retry. */
  readonly holder: Holder | null
  /** Start of that attempt. */
  readonly startedAtMs: number | null
  /** Every earlier holder as `worker/boot`: none of them may hold this job again (LSE-9). */
  readonly pastHolders: readonly string[]
  /** Why the job failed; while it lives, why its last attempt was lost. */
  readonly errorDetail: string | null
  /** Stream chunks so far, over all attempts, which is also the number of the newest one (STR-10). */
  readonly chunks: number
  /** The newest post that changed the running attempt, as its host numbered it (HOST-22). */
  readonly delivery: string | null
}

/** A job that waits for a worker. */
export interface QueuedJob extends JobFacts {
  readonly state: 'IN_QUEUE'
  /** When its last attempt was lost; null: none since the submit or the last retry. */
  readonly lostAtMs: number | null
}

/** A job with a lease. */
export interface RunningJob extends JobFacts {
  readonly state: 'IN_PROGRESS'
  readonly holder: Holder
  readonly startedAtMs: number
  /** Whether the holder has shown that it holds the job. */
  readonly acked: boolean
  /** When the lease ends. */
  readonly leaseUntilMs: number
  /** The reason that the lease would end with at `leaseUntilMs`. */
  readonly leaseEndReason: string
  readonly missingPings: number
}

/** States in which a job has ended. */
export type EndState = Exclude<JobState, 'IN_QUEUE' | 'IN_PROGRESS'>

/** A job that has ended. */
export interface EndedJob extends JobFacts {
  readonly state: EndState
  readonly finishedAtMs: number
  readonly error: string | null
  /** When its last attempt was lost, if the job ended while it was queued again; else null. */
  readonly lostAtMs: number | null
}

/** A job that is not over. */
export type LiveJob = QueuedJob | RunningJob
/** One job, with the fields of its state. */
export type Job = LiveJob | EndedJob

/** A job as it is right after its submission, at the tail of its priority. */
export function submitJob(
  given: Pick<
    JobFacts,
    'seq' | 'id' | 'lowPriority' | 'webhook' | 'createdAtMs' | 'ttlAtMs' | 'executionTimeoutMs' | 'retentionMs' | 'hasS3Config'
  >,
): QueuedJob {
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
    errorDetail: null,
    chunks: 0,
    delivery: null,
    lostAtMs: null,
  }
}

/** The fields that outlive a change of state. */
export function factsOf(job: Job): JobFacts {
  return {
    seq: job.seq,
    id: job.id,
    lowPriority: job.lowPriority,
    webhook: job.webhook,
    orderKey: job.orderKey,
    createdAtMs: job.createdAtMs,
    ttlAtMs: job.ttlAtMs,
    executionTimeoutMs: job.executionTimeoutMs,
    retentionMs: job.retentionMs,
    hasS3Config: job.hasS3Config,
    attempt: job.attempt,
    retries: job.retries,
    unconfirmed: job.unconfirmed,
    hostLosses: job.hostLosses,
    holder: job.holder,
    pastHolders: job.pastHolders,
    startedAtMs: job.startedAtMs,
    errorDetail: job.errorDetail,
    chunks: job.chunks,
    delivery: job.delivery,
  }
}

/** Whether a job in this state has ended. */
export function isTerminal(state: JobState): state is EndState {
  return state !== 'IN_QUEUE' && state !== 'IN_PROGRESS'
}

/** Whether a job has ended. */
export function isEnded(job: Job): job is EndedJob {
  return isTerminal(job.state)
}

/** When the job ended; null while it lives. */
export function endedAtMs(job: Job): number | null {
  return isEnded(job) ? job.finishedAtMs : null
}

/** Whether both are one start of one worker: a later boot of the same worker is another holder. */
export function sameHolder(a: Holder | null, b: Holder): boolean {
  return a !== null && a.workerId === b.workerId && a.boot === b.boot
}

/** Moves a job into a terminal state. */
export function finishJob(
  job: LiveJob,
  state: EndState,
  nowMs: number,
  error: string | null = null,
  errorDetail: string | null = null,
): EndedJob {
  // JOB-5: a job that is cancelled while it is queued again has not been executing since its lease ended.
  const lostAtMs = job.state === 'IN_QUEUE' && (state === 'CANCELLED' || state === 'TIMED_OUT') ? job.lostAtMs : null
  return { ...factsOf(job), state, finishedAtMs: nowMs, error, errorDetail, lostAtMs }
}

/** CTL-2: moves a job to the tail of the queue under a new order key; `attempt` continues to count. */
export function retryJob(job: EndedJob, orderKey: number): QueuedJob {
  return {
    ...factsOf(job),
    state: 'IN_QUEUE',
    orderKey,
    retries: 0,
    unconfirmed: 0,
    hostLosses: 0,
    errorDetail: null,
    startedAtMs: null,
    lostAtMs: null,
    holder: null,
  }
}

/** Whether a user may retry the job (CTL-2). */
export function canRetry(job: Job): job is EndedJob {
  return job.state === 'FAILED' || job.state === 'TIMED_OUT'
}

/** The reason why a job cannot be retried (CTL-2). */
export function retryRefusal({ id, state }: Job): string {
  return `job ${id} is ${state}; only FAILED and TIMED_OUT jobs can be retried`
}

/** Whether a post changes a job (LSE-10, LSE-11). `accept-late`: its lease ended before, and the job waits again. */
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
  if (job.state === 'IN_PROGRESS') return Math.min(job.ttlAtMs, job.leaseUntilMs, job.startedAtMs + job.executionTimeoutMs)
  return Math.min(job.ttlAtMs, job.finishedAtMs + job.retentionMs)
}
