import { expect, test } from 'vitest'
import { finishJob, leaseJob } from '../../src/domain/job.ts'
import { jobRecordJson } from '../../src/domain/job-record.ts'
import { queuedJob } from '../support/jobs.ts'

const TIMES = { pingIntervalMs: 10_000 }
const A = { workerId: 'w1', boot: 'b1' }

test('[JOB-1] a queued record is id and status alone', () => {
  expect(jobRecordJson(queuedJob())).toBe('{"id":"job-1","status":"IN_QUEUE"}')
})

test('[JOB-3] a terminal record has all five keys, in alphabetical order, the output untouched', () => {
  const job = finishJob(leaseJob(queuedJob(), A, 1_824, TIMES), 'COMPLETED', 5_215)
  expect(jobRecordJson(job, '{"big":12345678901234567890}')).toBe(
    '{"delayTime":824,"executionTime":3391,"id":"job-1","output":{"big":12345678901234567890},"status":"COMPLETED","workerId":"w1"}',
  )
})

test('[JOB-3] a job that never ran has an empty worker and no execution time', () => {
  expect(JSON.parse(jobRecordJson(finishJob(queuedJob(), 'CANCELLED', 4_000)))).toEqual({
    delayTime: 3_000,
    executionTime: 0,
    id: 'job-1',
    status: 'CANCELLED',
    workerId: '',
  })
})

test('[JOB-4] an error shows on terminal records only, and retries only above 0', () => {
  const failed = finishJob(leaseJob(queuedJob({ retries: 1 }), A, 2_000, TIMES), 'FAILED', 3_000, 'boom', 'exit code 1')
  expect(JSON.parse(jobRecordJson(failed))).toMatchObject({ error: 'boom', errorDetail: 'exit code 1', retries: 1 })
  const queued = { ...queuedJob(), error: 'old', errorDetail: 'old' }
  expect(jobRecordJson(queued)).not.toContain('error')
})
