import { type Job, submitJob } from '../../../src/domain/job/job.ts'

/** A job directly after its submission, with the changes of a test. */
export function queuedJob(change: Partial<Job> = {}): Job {
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
