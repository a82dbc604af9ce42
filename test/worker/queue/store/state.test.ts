import type { EndpointCore } from '../../../../durable-objects/endpoint/core.ts'
import { RecentJobs } from '../../../../durable-objects/endpoint/store/jobs/recent-jobs.ts'
import { finishJob, submitJob } from '../../../../src/domain/job/job.ts'
import { EVERY_JOB } from '../../../../src/domain/job/job-filter.ts'
import { leaseJob } from '../../../../src/domain/job/lease.ts'
import { createAccount, createEndpoint, describe, env, expect, it, runInDurableObject } from '../../../support/harness.ts'
import { undone } from '../../../support/queue/queue.ts'
import { STATE_CASES } from '../../../support/queue/queue-state.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'

it.each(STATE_CASES)('the tables of an endpoint object: $title', ({ check }) => withState(({ state }) => check(state)))

describe('the cached state of a job', () => {
  it('equals its row, over every transition', () =>
    withState(({ state }) => {
      // Lists are always read from the rows.
      const seen = () => [state.jobs.bySeq(1), ...state.lists.page(null, EVERY_JOB, 1)]
      const held = leaseJob(JOB, { workerId: 'w', boot: 'b' }, 5, { pingIntervalMs: 10_000 })
      const over = { ...finishJob(held, 'FAILED', 9, 'error', 'detail'), chunks: 3, delivery: 'd', unconfirmed: 2 }
      state.jobs.insert(JOB)
      expect(seen()).toEqual([JOB, JOB])
      state.jobs.save(JOB, held)
      expect(seen()).toEqual([held, held])
      state.jobs.save(held, over)
      expect(seen()).toEqual([over, over])
      state.jobs.remove(over)
      expect(state.jobs.bySeq(1)).toBeNull()
    }))

  it('is dropped with the rows that a rollback reverts', () =>
    withState(({ state, ctx }) => {
      const undo = () =>
        ctx.storage.transactionSync(() => {
          state.jobs.insert(JOB)
          throw new Error('undo')
        })
      expect(undo).toThrow('undo')
      state.reload()
      expect(state.jobs.bySeq(1)).toBeNull()
    }))

  it('is limited in jobs and in the size of each one', () => {
    const recent = new RecentJobs()
    for (let seq = 1; seq <= 1_001; seq += 1) recent.keep({ ...JOB, seq })
    recent.keep({ ...JOB, seq: 2, errorDetail: 'x'.repeat(2_000) })
    expect([1, 2, 3, 1_001].map((seq) => recent.get(seq)?.seq)).toEqual([undefined, undefined, 3, 1_001])
  })
})

const TIMES = { createdAtMs: 1, ttlAtMs: 2, executionTimeoutMs: 3, retentionMs: 4 }
const JOB = submitJob({ seq: 1, id: 'a', lowPriority: false, webhook: 'https://example.com/', hasS3Config: true, ...TIMES })

/** Runs on the tables of an endpoint and rolls back at the end, so that the object does not see the changes. */
async function withState(check: (core: EndpointCore) => void): Promise<void> {
  const { key } = await createAccount()
  const stub = endpointStub(env, `${await createEndpoint(key)}-of-its-own`)
  await runInDurableObject(stub, async ({ core }) => {
    // The first transaction creates the tables.
    await core.transact(() => undefined)
    undone(core, () => check(core))
  })
}
