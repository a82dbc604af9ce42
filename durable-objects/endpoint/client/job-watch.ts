import { finishJob, isTerminal, type Job } from '../../../src/domain/job/job.ts'
import { jobRecordJson } from '../../../src/domain/job/record.ts'
import { peekJob } from '../../../src/queue/jobs.ts'
import type { EndpointCore } from '../core.ts'

/** One job as somebody who waits for it sees it: looked at again and again, and still known when its ttl has deleted it. */
export class JobWatch {
  private readonly core: EndpointCore
  private readonly jobId: string
  /** As it was when last seen; null: never. */
  private seen: Job | null = null

  constructor(core: EndpointCore, jobId: string) {
    this.core = core
    this.jobId = jobId
  }

  get last(): Job | null {
    return this.seen
  }

  /** The job as it is now; null when there is none, or none any more. */
  async look(): Promise<Job | null> {
    // Before time is applied: this very look may be the one that deletes it.
    this.seen = peekJob(this.core.state, this.jobId) ?? this.seen
    const job = await this.core.findJob(this.jobId)
    this.seen = job ?? this.seen
    return job
  }

  /** Waits until something about the job changed, `waitMs` have passed or the client left. Only after a look that found it. */
  async wait(waitMs: number, signal: AbortSignal | null): Promise<void> {
    if (!this.seen) return
    this.seen = (await this.core.parking.waitForJob(this.seen.seq, waitMs, signal)) ?? this.seen
  }

  /** JOB-9: the last reply of a held request is the one place where an expired job is still spoken of. Null: it was never there. */
  expiredRecord(): string | null {
    const job = this.seen
    return job && jobRecordJson(isTerminal(job.state) ? job : finishJob(job, 'TIMED_OUT', this.core.now()))
  }
}
