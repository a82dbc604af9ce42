import { expect, test } from 'vitest'
import { JobRecord, SubmitJobRequest } from '../../../src/contract/jobs/jobs.ts'
import { finishJob } from '../../../src/domain/job/job.ts'
import { leaseJob } from '../../../src/domain/job/lease.ts'
import { jobRecordJson } from '../../../src/domain/job/record.ts'
import { readSubmission } from '../../../src/domain/job/submit.ts'
import { parseAllowList } from '../../../src/domain/webhook/url.ts'
import { queuedJob } from '../../support/queue/jobs.ts'

const NO_ALLOW = parseAllowList('')
const TIMES = { pingIntervalMs: 10_000 }
const A = { workerId: 'w1', boot: 'b1' }

test('[JOB-1] a queued record is id and status alone', () => {
  expect(jobRecordJson(queuedJob())).toBe('{"id":"job-1","status":"IN_QUEUE"}')
})

test('[JOB-2] no other state is documented', () => {
  const states = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT']
  expect(JobRecord.shape.status.options).toEqual(states)
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
  const queued = queuedJob({ errorDetail: 'old' })
  expect(jobRecordJson(queued)).not.toContain('error')
})

test('[JOB-1] every member that a record may have is documented', () => {
  const running = leaseJob(queuedJob({ retries: 1 }), A, 2_000, TIMES)
  const workers = { idle: 0, initializing: 1, ready: 0, running: 0, throttled: 0, unhealthy: 0 }
  for (const record of [
    jobRecordJson(queuedJob(), undefined, { reason: 'a worker is starting', workers }),
    jobRecordJson(running, '"half"'),
    jobRecordJson(finishJob(running, 'FAILED', 3_000, 'boom', 'exit code 1'), '[1]'),
  ]) {
    expect(JobRecord.strict().safeParse(JSON.parse(record)).error?.issues).toBeUndefined()
  }
})

test('[RUN-1, RUN-5, RUN-10, RUN-11] a body that a submit refuses is refused by its document too', () => {
  const s3Config = { accessId: 'a', accessSecret: 'b', bucketName: 'c', endpointUrl: 'd' }
  for (const [body, accepted] of [
    [{ input: {} }, true],
    [{ input: [] }, false],
    [{ input: {}, s3Config }, true],
    [{ input: {}, s3Config: { ...s3Config, bucketName: undefined } }, false],
    [{ input: {}, s3Config: { ...s3Config, endpointUrl: '' } }, false],
    [{ input: {}, policy: { ttl: 10_000 } }, true],
    [{ input: {}, policy: { ttl: 9_999 } }, false],
    [{ input: {}, policy: { executionTimeout: 4_999 } }, false],
    [{ input: {}, policy: { execution_timeout: 5_000 } }, false],
  ] as const) {
    const text = JSON.stringify(body)
    expect([SubmitJobRequest.safeParse(JSON.parse(text)).success, readSubmission(text, null, NO_ALLOW).ok], text).toEqual([
      accepted,
      accepted,
    ])
  }
})
