import { IDEMPOTENCY_RETENTION_MS } from '../../../../src/domain/idempotency.ts'
import { api, createKey, describe, env, expect, it, runInDurableObject } from '../../../support/harness.ts'
import { advance, freezeClock, inside, type QueueSetup, run, runAndTake, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'

const S3 = { accessId: 'AKIA-test', accessSecret: 'very-secret-value', bucketName: 'bucket', endpointUrl: 'https://s3.example.com' }
const rowsOf = (queue: QueueSetup, query: string) =>
  runInDurableObject(endpointStub(env, queue.endpointId), (object) => object.core.ctx.storage.sql.exec(query).toArray())

describe('Idempotency-Key', () => {
  const submit = (queue: QueueSetup, key: string, body: unknown = { input: { a: 1 } }, operation = 'run', apiKey = queue.account.key) =>
    api(apiKey).post(`/v2/${queue.endpointId}/${operation}`, body, { 'Idempotency-Key': key })

  it('[RUN-13] the same request under the same key is one job', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 0 } })
    const first = await submit(queue, 'k1')
    const again = await submit(queue, 'k1')
    const other = await submit(queue, 'k2')
    expect(again.body).toEqual(first.body)
    expect([first, again].map((reply) => reply.headers.get('idempotency-replayed'))).toEqual([null, 'true'])
    expect(other.body.id).not.toBe(first.body.id)
    expect((await queue.get('/health')).body.jobs.inQueue).toBe(2)
  })

  it('[RUN-13] two simultaneous ones are one job', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 0 } })
    const replies = await Promise.all(Array.from({ length: 10 }, () => submit(queue, 'together')))
    expect(new Set(replies.map((reply) => reply.body.id)).size).toBe(1)
    expect((await queue.get('/health')).body.jobs.inQueue).toBe(1)
  })

  it('[RUN-13] another body, ttl or operation under a used key is 422 and makes nothing', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 0 } })
    await submit(queue, 'k')
    const refused = [
      await submit(queue, 'k', { input: { a: 2 } }),
      await submit(queue, 'k', { input: { a: 1 } }, 'run?ttl=20000'),
      await submit(queue, 'k', { input: { a: 1 } }, 'runsync?wait=1000'),
    ]
    expect(refused.map((reply) => reply.status)).toEqual([422, 422, 422])
    expect(refused[0]?.body).toEqual({
      title: 'Unprocessable Entity',
      status: 422,
      detail: 'Idempotency-Key (header): it was used with another request before; use a fresh key',
    })
    expect((await queue.get('/health')).body.jobs.inQueue).toBe(1)
  })

  it('[RUN-13] a key belongs to one user and to one endpoint', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 0 } })
    const second = await createKey(queue.account.userId)
    const first = await submit(queue, 'k')
    expect((await submit(queue, 'k', undefined, 'run', second.key)).body.id).toBe(first.body.id)
    const elsewhere = await setUpQueue({ workers: { min: 0, max: 0 } })
    expect((await submit(elsewhere, 'k')).body.id).not.toBe(first.body.id)
  })

  it('[RUN-13] a repeated /runsync is 409 while the first runs, and its result afterwards', async () => {
    const queue = await setUpQueue()
    const first = submit(queue, 'sync', undefined, 'runsync')
    const worker = await queue.host.startWorker(queue.endpointId)
    const job = await worker.take()
    const early = await submit(queue, 'sync', undefined, 'runsync')
    expect(early.status).toBe(409)
    expect(early.headers.get('retry-after')).toBe('1')
    await worker.done(job?.id ?? '', { output: 42 })
    const result = await first
    const late = await submit(queue, 'sync', undefined, 'runsync')
    expect(late.status).toBe(200)
    expect(late.body).toEqual(result.body)
    expect(late.body.output).toBe(42)
    await advance(queue.endpointId, 60_000)
    expect((await submit(queue, 'sync', undefined, 'runsync')).status).toBe(404)
  })

  it('[RUN-13] after 24 hours the key is free again and its row is deleted', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 0 } })
    const first = await submit(queue, 'k', { input: {}, policy: { ttl: 604_800_000 } })
    await advance(queue.endpointId, IDEMPOTENCY_RETENTION_MS - 60_000)
    expect((await submit(queue, 'k', { input: {}, policy: { ttl: 604_800_000 } })).body.id).toBe(first.body.id)
    await advance(queue.endpointId, 120_000)
    const later = await submit(queue, 'k', { input: {}, policy: { ttl: 604_800_000 } })
    expect(later.body.id).not.toBe(first.body.id)
    await advance(queue.endpointId, IDEMPOTENCY_RETENTION_MS)
    await submit(queue, 'another')
    expect((await rowsOf(queue, 'SELECT key FROM idempotency_keys')).map((row) => row.key)).toEqual(['another'])
  })

  it('[RUN-13] the keys of a deleted endpoint are deleted with it', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 0 } })
    await submit(queue, 'k')
    expect(await rowsOf(queue, 'SELECT key FROM idempotency_keys')).toHaveLength(1)
    await api(queue.account.key).delete(`/v2/serverless/${queue.endpointId}`)
    expect(await rowsOf(queue, "SELECT name FROM sqlite_master WHERE name = 'idempotency_keys'")).toEqual([])
  })

  it('[RUN-13] a refused submission does not use up its key', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 0 } })
    expect((await submit(queue, 'k', { input: [] })).status).toBe(400)
    expect((await submit(queue, 'k', { input: {} })).status).toBe(200)
    expect((await submit(queue, 'no good', { input: {} })).status).toBe(400)
  })
})

describe('s3Config', () => {
  it('[RUN-1] reaches the worker, in a single take and in a batch, and is never shown to clients', async () => {
    const queue = await setUpQueue()
    const { body } = await queue.post('/run', { input: { a: 1 }, s3Config: { ...S3, objectPath: 'out/', extra: 1 } })
    const worker = await queue.host.startWorker(queue.endpointId)
    expect(await worker.take()).toEqual({ id: body.id, input: { a: 1 }, s3Config: { ...S3, objectPath: 'out/' } })
    const shown = (await queue.get(`/status/${body.id}`)).body
    expect(shown).not.toHaveProperty('s3Config')
    expect(JSON.stringify(shown)).not.toContain(S3.accessSecret)
    await worker.done(body.id, { output: 1 })
    await queue.post('/run', { input: { a: 2 }, s3Config: S3 })
    await queue.post('/run', { input: { a: 3 } })
    const batch = await worker.takeBatch(2)
    expect(batch.map(({ id: _, ...record }) => record)).toEqual([{ input: { a: 2 }, s3Config: S3 }, { input: { a: 3 } }])
  })

  it('[RUN-11] is stored encrypted, kept over a requeue and with a failed job, and wiped with a completed one', async () => {
    const queue = await setUpQueue()
    const { body } = await queue.post('/run', { input: {}, s3Config: S3 })
    const stored = await rowsOf(queue, 'SELECT data FROM pieces WHERE kind = 2')
    expect(stored).toHaveLength(1)
    expect(JSON.stringify(stored)).not.toContain('secret')
    const worker = await queue.host.startWorker(queue.endpointId)
    await worker.take()
    await queue.host.report(worker.id, { state: 'exited', exitCode: 1, reason: 'crashed' })
    await advance(queue.endpointId, 2_000)
    const second = await queue.host.startWorker(queue.endpointId, [worker.id])
    expect(await second.take()).toMatchObject({ id: body.id, s3Config: S3 })
    await second.done(body.id, { error: 'no' })
    expect(await rowsOf(queue, 'SELECT kind FROM payloads ORDER BY kind')).toEqual([{ kind: 0 }, { kind: 2 }])
    expect((await queue.post(`/retry/${body.id}`)).status).toBe(200)
    // LSE-9: the worker has held the job before, so another one must take it.
    expect(await second.take()).toBeNull()
    const third = await queue.host.startWorker(queue.endpointId, [worker.id, second.id])
    await third.take()
    await third.done(body.id, { output: 1 })
    expect(await rowsOf(queue, 'SELECT kind FROM payloads ORDER BY kind')).toEqual([{ kind: 1 }])
  })

  it('[CTL-2, RUN-12] a retried job runs with the s3Config that it came with', async () => {
    const queue = await setUpQueue()
    const { body } = await queue.post('/run', { input: { a: 1 }, s3Config: S3 })
    const worker = await queue.host.startWorker(queue.endpointId)
    await worker.take()
    await worker.done(body.id, { error: 'no' })
    const retried = await queue.post(`/retry/${body.id}`)
    expect([retried.status, retried.body]).toEqual([200, { id: body.id, status: 'IN_QUEUE' }])
    expect((await queue.get('/health')).body.jobs).toMatchObject({ failed: 1, retried: 1 })
    // LSE-9: the worker has held the job before, so another one must take it.
    expect(await worker.take()).toBeNull()
    const second = await queue.host.startWorker(queue.endpointId, [worker.id])
    expect(await second.take()).toEqual({ id: body.id, input: { a: 1 }, s3Config: S3 })
  })

  it('[RUN-11] an s3Config that another secret sealed fails the job with that reason instead of running it without', async () => {
    const queue = await setUpQueue()
    const { body } = await queue.post('/run', { input: {}, s3Config: S3 })
    await runInDurableObject(endpointStub(env, queue.endpointId), (object) => {
      object.core.ctx.storage.sql.exec("UPDATE pieces SET data = replace(data, substr(data, 20, 4), 'AAAA') WHERE kind = 2")
    })
    const worker = await queue.host.startWorker(queue.endpointId)
    expect(await worker.take()).toBeNull()
    const status = await queue.get(`/status/${body.id}`)
    expect(status.body).toMatchObject({ status: 'FAILED', error: expect.stringContaining('s3Config can no longer be decrypted') })
  })

  it('[RUN-11] an invalid one is 400 with its path', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 0 } })
    const reply = await queue.post('/run', { input: {}, s3Config: { ...S3, accessSecret: 5 } })
    expect([reply.status, reply.body.detail]).toEqual([400, '$.s3Config.accessSecret: want a string that is not empty'])
  })
})

describe('storage', () => {
  it('[LIM-10] an endpoint whose storage is full accepts no new jobs but continues its existing ones', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await runInDurableObject(endpointStub(env, queue.endpointId), (object) => {
      object.core.state.maxStoredBytes = 1
    })
    const refused = await queue.post('/run', { input: {} })
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('60')
    expect(refused.body.detail).toMatch(/fill its storage/)
    await worker.done(jobId, { output: 1 })
    expect((await queue.get(`/status/${jobId}`)).body.status).toBe('COMPLETED')
    await runInDurableObject(endpointStub(env, queue.endpointId), (object) => {
      object.core.state.maxStoredBytes = Number.MAX_SAFE_INTEGER
    })
    await run(queue)
  })
})

it('[RUN-13, LIM-10] expired keys are deleted although the storage is full, because it would stay full otherwise', async () => {
  const queue = await setUpQueue({ workers: { min: 0, max: 0 } })
  const submit = (key: string) => api(queue.account.key).post(`/v2/${queue.endpointId}/run`, { input: {} }, { 'Idempotency-Key': key })
  for (const key of ['a', 'b', 'c']) await submit(key)
  await advance(queue.endpointId, IDEMPOTENCY_RETENTION_MS)
  await runInDurableObject(endpointStub(env, queue.endpointId), (object) => {
    object.core.state.maxStoredBytes = 1
  })
  expect((await submit('d')).status).toBe(429)
  expect(await rowsOf(queue, 'SELECT key FROM idempotency_keys')).toEqual([])
})

describe('retention', () => {
  it("[LIM-14, TMO-3] an endpoint's own retention: readable one millisecond before its end, deleted at it", async () => {
    const queue = await setUpQueue({ resultRetention: { run: 3_600_000 } })
    expect((await api(queue.account.key).get(`/v2/serverless/${queue.endpointId}`)).body.resultRetention).toEqual({
      run: 3_600_000,
      runSync: 60_000,
    })
    const { jobId, worker } = await runAndTake(queue)
    await freezeClock(queue.endpointId)
    await worker.done(jobId, { output: 1 })
    await advance(queue.endpointId, 3_599_999)
    expect((await queue.get(`/status/${jobId}`)).status).toBe(200)
    await advance(queue.endpointId, 1)
    expect((await queue.get(`/status/${jobId}`)).status).toBe(404)
  })

  it('[JOB-49, JOB-8] after it, rows are removed together; until then neither a list nor a bulk change finds them', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 0, idleTimeout: 5 } })
    await freezeClock(queue.endpointId)
    const cancel = async () => {
      const id = await run(queue)
      expect((await queue.post(`/cancel/${id}`)).status).toBe(200)
      return id
    }
    const stepMs = 180_000
    const startMs = await inside(queue, ({ core }) => core.now())
    // Both end in one step, which begins right after a multiple of it.
    await advance(queue.endpointId, stepMs - (startMs % stepMs) + 1)
    const first = await cancel()
    await advance(queue.endpointId, stepMs - 2)
    const second = await cancel()
    const rows = () => rowsOf(queue, 'SELECT id FROM jobs ORDER BY seq')
    await advance(queue.endpointId, 1_800_000 - 1)
    expect(await rows()).toEqual([{ id: first }, { id: second }])
    expect((await queue.get('/requests')).body.requests.map(({ id }: { id: string }) => id)).toEqual([second])
    expect((await queue.post('/requests/retry?dryRun=true', { ids: [first, second] })).body.refused).toMatchObject([
      { status: 'CANCELLED', jobs: 1 },
      { status: null, jobs: 1 },
    ])
    await advance(queue.endpointId, 2)
    expect(await rows()).toEqual([])
  })

  it.each([
    [{ run: 1_799_999 }, '$.resultRetention.run: minimum: got 1799999, want 1800000'],
    [{ runSync: 59_999 }, '$.resultRetention.runSync: minimum: got 59999, want 60000'],
    [{ run: 604_800_001 }, '$.resultRetention.run: maximum: got 604800001, want 604800000'],
  ])('[LIM-14] %o is refused', async (resultRetention, error) => {
    const queue = await setUpQueue()
    const reply = await api(queue.account.key).patch(`/v2/serverless/${queue.endpointId}`, { resultRetention })
    expect([reply.status, reply.body.errors]).toEqual([422, [error]])
  })
})
