import { type Job, type QueuedJob, submitJob } from '../../../src/domain/job/job.ts'

/** A job directly after its submission, with the changes of a test. */
export function queuedJob(change: Partial<QueuedJob> = {}): QueuedJob {
  const submitted = submitJob({
    seq: 1,
    id: 'job-1',
    lowPriority: false,
    webhook: null,
    createdAtMs: 1_000,
    ttlAtMs: 1_000 + 86_400_000,
    executionTimeoutMs: 600_000,
    retentionMs: 1_800_000,
    hasS3Config: false,
  })
  return { ...submitted, ...change }
}

/** The job if it is queued. */
export function queued(job: Job): QueuedJob {
  if (job.state !== 'IN_QUEUE') throw new Error(`the job is ${job.state}`)
  return job
}
