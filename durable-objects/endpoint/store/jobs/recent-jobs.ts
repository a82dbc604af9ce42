import type { Job } from '../../../../src/domain/job/job.ts'

const MAX_JOBS = 1_000
/** Jobs whose texts are longer are read from their row: what is kept here is to stay below a few megabytes. */
const MAX_TEXT_CHARS = 1_000

/**
 * The jobs that were read or written last, so that a client that asks for one again and again, and the worker that has it, cost no query. A
 * job is a value that nobody changes, so it can be handed out as it is.
 */
export class RecentJobs {
  private readonly bySeq = new Map<number, Job>()

  get(seq: number): Job | undefined {
    return this.bySeq.get(seq)
  }

  /** Remembers a job as its row is now. The one that was written or read longest ago goes when there are too many. */
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

  forget(seq: number): void {
    this.bySeq.delete(seq)
  }

  clear(): void {
    this.bySeq.clear()
  }
}

function textLength({ webhook, error, errorDetail, leaseEndReason, pastHolders }: Job): number {
  const texts = [webhook, error, errorDetail, leaseEndReason, ...pastHolders]
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0)
}
