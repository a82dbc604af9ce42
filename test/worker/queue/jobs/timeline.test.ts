import { api, createAccount, describe, env, expect, it, runInDurableObject } from '../../../support/harness.ts'
import { advance, type QueueSetup, run, runAndTake, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'

const timeline = async (queue: QueueSetup, id: string) => {
  const { status, body } = await queue.get(`/timeline/${id}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

describe('/timeline', () => {
  it('[JOB-43] lists phases, worker, price and log lines of the attempt of a job', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await advance(queue.endpointId, 2_000)
    await worker.done(jobId, { output: 1 })
    const body = await timeline(queue, jobId)
    expect(body).toMatchObject({ id: jobId, status: 'COMPLETED', finishedAt: TIME, waitingSince: null, chunks: 0, webhooks: [] })
    const [attempt] = body.attempts
    expect(attempt).toMatchObject({ attempt: 1, outcome: 'COMPLETED', startedAt: TIME, endedAt: TIME, reason: null })
    expect(attempt.worker).toEqual({ id: worker.id, gpuTypeId: expect.any(String), gpuCount: 1, dataCenterId: expect.any(String) })
    expect(attempt.logs).toEqual({ workerId: worker.id, since: attempt.startedAt, until: TIME })
    const running = attempt.phases.at(-1)
    expect(running.phase).toBe('RUNNING')
    expect(running.ms).toBeGreaterThanOrEqual(2_000)
    expect(attempt.usdPerHour).toBeGreaterThan(0)
    expect(attempt.costUsd).toBeCloseTo((attempt.usdPerHour * running.ms) / 3_600_000, 4)
    expect(body.costUsd).toBe(attempt.costUsd)
    expect(body.medians.RUNNING).toBe(running.ms)
  })

  it('[JOB-48] shows the input of a job as long as it may run, its beginning when it is long, and nothing sealed', async () => {
    const queue = await setUpQueue()
    const { jobId: short, worker } = await runAndTake(queue, { prompt: 'größe' })
    const json = '{"prompt":"größe"}'
    expect((await timeline(queue, short)).input).toEqual({ json, bytes: json.length + 2, isWhole: true })
    await worker.done(short, { output: 1 })
    expect((await timeline(queue, short)).input).toBeNull()
    // Characters of two bytes, so that the limit falls inside one; the text is stored in several pieces.
    const s3Config = { accessId: 'a', accessSecret: 'hidden', bucketName: 'b', endpointUrl: 'https://s3.example.com' }
    const { body: long } = await queue.post('/run', { input: { a: 'ü'.repeat(300_000) }, s3Config })
    const { input } = await timeline(queue, long.id)
    expect(input).toEqual({ json: `{"a":"${'ü'.repeat(8_189)}`, bytes: 600_008, isWhole: false })
    expect(JSON.stringify(await timeline(queue, long.id))).not.toContain('hidden')
  })

  it('[JOB-43] keeps attempts that were lost, or failed before a retry, with the reason and the end', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.ping([jobId])
    await queue.host.report(worker.id, { state: 'exited', exitCode: 1, reason: 'crash' })
    const waiting = await timeline(queue, jobId)
    expect(waiting).toMatchObject({
      status: 'IN_QUEUE',
      waitingSince: TIME,
      finishedAt: null,
      attempts: [{ outcome: 'LOST', worker: { id: worker.id } }],
    })
    const next = await queue.host.startWorker(queue.endpointId)
    await next.take()
    await next.done(jobId, { error: 'boom' })
    expect((await queue.post(`/retry/${jobId}`)).status).toBe(200)
    const { attempts, costUsd } = await timeline(queue, jobId)
    expect(attempts.map(({ attempt, outcome, reason }: Record<string, unknown>) => [attempt, outcome, reason])).toEqual([
      [1, 'LOST', expect.stringContaining('crash')],
      [2, 'FAILED', 'boom'],
    ])
    expect(costUsd).not.toBeUndefined()
    expect((await queue.post(`/cancel/${jobId}`)).status).toBe(200)
    await advance(queue.endpointId, 8 * 86_400_000)
    expect((await queue.get(`/timeline/${jobId}`)).status).toBe(404)
    const left = await runInDurableObject(endpointStub(env, queue.endpointId), (_, { storage }) =>
      storage.sql.exec('SELECT COUNT(*) AS n FROM attempts').one(),
    )
    expect(left).toEqual({ n: 0 })
  })

  it('[JOB-43] of a queued job has no attempt; other tenants find no endpoint', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 0, idleTimeout: 5 } })
    const jobId = await run(queue)
    expect(await timeline(queue, jobId)).toMatchObject({ attempts: [], costUsd: 0, waitingSince: TIME })
    const otherTenant = api((await createAccount()).key)
    expect((await otherTenant.get(`/v2/${queue.endpointId}/timeline/${jobId}`)).body).toMatchObject({ detail: 'endpoint not found' })
  })
})
