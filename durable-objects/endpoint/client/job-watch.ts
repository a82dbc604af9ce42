import { finishJob, isEnded, type Job } from '../../../src/domain/job/job.ts'
import { jobRecordJson } from '../../../src/domain/job/record.ts'
import { peekJob } from '../../../src/queue/jobs.ts'
import type { Clock, Jobs, Rows, Waiting } from '../parts.ts'

/** Parts that a watched job uses. */
export type WatchParts = Clock & Jobs & Rows & Waiting

/** Watches one job for a waiting caller, and still has its record after its ttl has deleted it. */
export class JobWatch {
  private readonly core: WatchParts
  private readonly jobId: string
  /** The job as last read; null before the first read. */
  private seen: Job | null = null

  constructor(core: WatchParts, jobId: string) {
    this.core = core
    this.jobId = jobId
  }

  get last(): Job | null {
    return this.seen
  }

  /** Reads the job; null when it does not exist or is deleted. */
  async poll(): Promise<Job | null> {
    // Read before due transitions are applied, because this call may be the one that deletes the job.
    this.seen = peekJob(this.core.state, this.jobId) ?? this.seen
    const job = await this.core.findJob(this.jobId)
    this.seen = job ?? this.seen
    return job
  }

  /** Waits until the job changes, `waitMs` have passed or the client disconnects. Call it only after a `poll` that found the job. */
  async wait(waitMs: number, signal: AbortSignal | null): Promise<void> {
    if (!this.seen) return
    this.seen = (await this.core.parking.waitForJob(this.seen.seq, waitMs, signal)) ?? this.seen
  }

  /** JOB-9: record of an expired job, for the last reply of a held request. Null when the job was never seen. */
  expiredRecord(): string | null {
    const job = this.seen
    return job && jobRecordJson(isEnded(job) ? job : finishJob(job, 'TIMED_OUT', this.core.now()))
  }
}
