import type { Job } from '../../src/domain/job.ts'

/** A job as it is right after its submission, with whatever a test wants to be different. */
export function queuedJob(change: Partial<Job> = {}): Job {
  return {
    seq: 1,
    id: 'job-1',
    state: 'IN_QUEUE',
    lowPriority: false,
    orderKey: 1,
    createdAtMs: 1_000,
    ttlAtMs: 1_000 + 86_400_000,
    executionTimeoutMs: 600_000,
    retentionMs: 1_800_000,
    attempt: 0,
    retries: 0,
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
    ...change,
  }
}
