import { submitJob } from '../../../src/domain/job/job.ts'
import { doubtTake, holdLease, leaseEndReasonOf, leaseJob, lossOf, restartLease, showIdle } from '../../../src/domain/job/lease.ts'
import { describe, expect, it } from '../../support/unit.ts'

const TIMES = { createdAtMs: 1, ttlAtMs: 1e9, executionTimeoutMs: 1e6, retentionMs: 1e6 }
const running = leaseJob(
  submitJob({ seq: 1, id: 'a', lowPriority: false, webhook: null, hasS3Config: false, ...TIMES }),
  { workerId: 'w', boot: 'b' },
  1,
  { pingIntervalMs: 10_000 },
)

describe('[LSE-20] [LSE-30] the end reason of a lease that a previous release stored', () => {
  it.each([
    ['the worker never confirmed the job, and the answer that carried it may have been lost', doubtTake(running)],
    ['its host fell silent, and the worker has not shown the job since', holdLease(running, 9)],
    ['the plane was away, and the worker has not shown the job since', restartLease(running, 9)],
    ['the answer to a take was lost between the plane and its host', showIdle(running, 1, true)],
  ])('%s: means what this release means', (stored, { leaseEndReason }) => {
    expect(leaseEndReasonOf(stored)).toBe(leaseEndReason)
    expect(leaseEndReasonOf(leaseEndReason)).toBe(leaseEndReason)
  })

  it('costs no retry if a host or the plane was away', () => {
    const stored = 'its host fell silent, and the worker has not shown the job since'
    expect(lossOf({ ...running, leaseEndReason: leaseEndReasonOf(stored) }, 'retry')).toBe('host')
  })
})
