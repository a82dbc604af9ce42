import { isEnded, type Job } from '../../../../src/domain/job/job.ts'

const MAX_JOBS = 1_000
/** Jobs with longer texts are read from their row, which bounds this cache to a few megabytes. */
const MAX_TEXT_CHARS = 1_000

/**
 * Cache of the most recently read or written jobs, so that repeated requests of a client, and of the worker that runs the job, cost no
 * query. Jobs are immutable values and can be shared.
 */
export class RecentJobs {
  private readonly bySeq = new Map<number, Job>()

  get(seq: number): Job | undefined {
    return this.bySeq.get(seq)
  }

  /** Stores a job as its row is; the least recently stored job is removed when there are too many. */
  keep(job: Job): void {
    this.bySeq.delete(job.seq)
    if (textLength(job) > MAX_TEXT_CHARS) return
    if (this.bySeq.size >= MAX_JOBS)
      for (const oldest of this.bySeq.keys()) {
        this.bySeq.delete(oldest)
        break
      }
    this.bySeq.set(job.seq, job)
  }

  discard(seq: number): void {
    this.bySeq.delete(seq)
  }

  clear(): void {
    this.bySeq.clear()
  }
}

function textLength(job: Job): number {
  const ofState = job.state === 'IN_PROGRESS' ? job.leaseEndReason : isEnded(job) ? job.error : null
  const texts = [job.webhook, job.errorDetail, ofState, ...job.pastHolders]
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0)
}
