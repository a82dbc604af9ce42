import { JOB_DEFAULTS } from '../../../../src/contract/defaults.ts'
import { describe, expect, it } from '../../../support/harness.ts'
import { advance, freezeClock, inside, parkStopPoll, parkTake, run, runAndTake, settled, setUpQueue } from '../../../support/queue/queue.ts'
import { until } from '../../../support/time.ts'

describe('a job from submit to result', () => {
  it('[RUN-3, JOB-3] waits, is taken by a worker that the platform started, and its result is read', async () => {
    const queue = await setUpQueue()
    const jobId = await run(queue, { prompt: 'hello' })
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ id: jobId, status: 'IN_QUEUE' })
    const worker = await queue.host.startWorker(queue.endpointId)
    expect(await worker.take()).toEqual({ id: jobId, input: { prompt: 'hello' } })
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({
      status: 'IN_PROGRESS',
      workerId: worker.id,
      delayTime: expect.any(Number),
    })
    expect(await worker.done(jobId, { output: { text: 'hi' } })).toBe(200)
    expect((await queue.get(`/status/${jobId}`)).body).toEqual({
      delayTime: expect.any(Number),
      executionTime: expect.any(Number),
      id: jobId,
      output: { text: 'hi' },
      status: 'COMPLETED',
      workerId: worker.id,
    })
    expect((await queue.get('/health')).body.jobs).toEqual({ completed: 1, failed: 0, inProgress: 0, inQueue: 0, retried: 0 })
  })

  it('[RUN-4] /runsync is released by the result, with a sync- id', async () => {
    const queue = await setUpQueue()
    const reply = queue.post('/runsync', { input: {} })
    const worker = await queue.host.startWorker(queue.endpointId)
    const job = await worker.take()
    await worker.done(job?.id ?? '', { output: 1 })
    expect((await reply).body).toMatchObject({ id: expect.stringMatching(/^sync-/), status: 'COMPLETED', output: 1, workerId: worker.id })
  })

  it('[RUN-4] /runsync returns the current state when wait runs out', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 0, idleTimeout: 5 } })
    const started = Date.now()
    const reply = await queue.post('/runsync?wait=1000', { input: {} })
    expect(reply.body).toMatchObject({ status: 'IN_QUEUE', queue: { reason: 'workers.max is 0, so no worker may start' } })
    expect(Date.now() - started, 'as long as it asked, not as long as others').toBeLessThan(JOB_DEFAULTS.wait / 3)
  })

  it('[JOB-9] /runsync returns the running job that its ttl has ended', async () => {
    const queue = await setUpQueue()
    await freezeClock(queue.endpointId)
    const held = queue.post('/runsync', { input: {}, policy: { ttl: 20_000 } })
    const worker = await queue.host.startWorker(queue.endpointId)
    await advance(queue.endpointId, 3_000)
    const job = await worker.take()
    await advance(queue.endpointId, 17_000)
    const times = { delayTime: 3_000, executionTime: 17_000 }
    expect((await held).body).toEqual({ id: job?.id, status: 'TIMED_OUT', workerId: worker.id, ...times })
  })

  it('[JOB-30] input and output keep every digit', async () => {
    const queue = await setUpQueue()
    const reply = await queue.post('/run', '{"input": {"big": 12345678901234567890, "one": 1.0}}')
    const worker = await queue.host.startWorker(queue.endpointId)
    const raw = await (await worker.takeRaw()).text()
    expect(raw).toBe(`{"id":"${reply.body.id}","input":{"big": 12345678901234567890, "one": 1.0}}`)
  })

  it('an open take is woken by a submit', async () => {
    const queue = await setUpQueue({ workers: { min: 1, max: 1, idleTimeout: 5 } })
    const worker = await queue.host.startWorker(queue.endpointId)
    const [taken] = await parkTake(queue, worker)
    const jobId = await run(queue)
    expect((await taken)?.id).toBe(jobId)
  })

  it('[SCALE-4] jobs are taken in order, low priority last', async () => {
    const queue = await setUpQueue()
    const low = await run(queue, {}, { lowPriority: true })
    const first = await run(queue)
    const second = await run(queue)
    const worker = await queue.host.startWorker(queue.endpointId)
    const order: string[] = []
    for (let i = 0; i < 3; i++) {
      const job = await worker.take()
      order.push(job?.id ?? '')
      await worker.done(job?.id ?? '', { output: i })
    }
    expect(order).toEqual([first, second, low])
  })

  it('[SCALE-4] a low priority job alone starts no worker', async () => {
    const queue = await setUpQueue()
    await run(queue, {}, { lowPriority: true })
    // Far beyond any queue delay.
    await advance(queue.endpointId, 60_000)
    await settled(queue)
    expect((await queue.get('/health')).body.workers).toEqual({
      idle: 0,
      initializing: 0,
      ready: 0,
      running: 0,
      throttled: 0,
      unhealthy: 0,
    })
    expect(queue.host.desired().filter((w) => w.platformEnv.RUNPOD_ENDPOINT_ID === queue.endpointId)).toEqual([])
  })

  it('[WRK-11] a batch take gets at most its size, as an array', async () => {
    const queue = await setUpQueue()
    const ids = [await run(queue), await run(queue), await run(queue)]
    const worker = await queue.host.startWorker(queue.endpointId)
    const jobs = await worker.takeBatch(2)
    expect(jobs.map((job) => job.id)).toEqual(ids.slice(0, 2))
  })

  it('[WRK-13] a truthy error of any type fails the job, as a string', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, { error: { code: 7 } })
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'FAILED', error: '{"code":7}' })
  })

  it('[WRK-14, JOB-6] progress shows while running and changes nothing afterwards', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, { status: 'IN_PROGRESS', output: '50%' })
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'IN_PROGRESS', output: '50%' })
    await worker.done(jobId, { output: 'final' })
    await worker.done(jobId, { status: 'IN_PROGRESS', output: '99%' })
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'COMPLETED', output: 'final' })
  })

  it('[INV-7] a handler that returned nothing leaves no output, and the record is whole', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, {})
    const { body } = await queue.get(`/status/${jobId}`)
    expect(Object.keys(body)).toEqual(['delayTime', 'executionTime', 'id', 'status', 'workerId'])
  })

  it('[LIM-3] an output of several megabytes arrives whole', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    const output = 'ü€𝄞'.repeat(400_000)
    expect(await worker.done(jobId, { output })).toBe(200)
    expect((await queue.get(`/status/${jobId}`)).body.output === output).toBe(true)
  })

  it('[LIM-3, INV-32] a result above the limit fails the job with that reason', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    expect(await worker.done(jobId, { output: 'x'.repeat(21 * 2 ** 20) })).toBe(200)
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({
      status: 'FAILED',
      error: 'the result is larger than the limit of 20971520 bytes',
    })
  })
})

describe('streams', () => {
  it('[STR-1, STR-4, STR-5] chunks come once, the terminal status with the last ones only', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.stream(jobId, { output: 'a' })
    expect((await queue.get(`/stream/${jobId}`)).body).toEqual({ status: 'IN_PROGRESS', stream: [{ output: 'a' }] })
    await worker.stream(jobId, { output: 'b' })
    await worker.done(jobId, { output: [] }, true)
    expect((await queue.get(`/stream/${jobId}`)).body).toEqual({ status: 'COMPLETED', stream: [{ output: 'b' }] })
    expect((await queue.get(`/stream/${jobId}`)).body).toEqual({ status: 'COMPLETED', stream: [] })
  })

  it('[STR-4, STR-5] chunks beyond one reply come with the next one, and so does the terminal status', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    const chunk = 'x'.repeat(900_000)
    for (let n = 0; n < 5; n += 1) await worker.stream(jobId, { output: chunk })
    await worker.done(jobId, { output: [] }, true)
    const replies = [await queue.get(`/stream/${jobId}`), await queue.get(`/stream/${jobId}`)]
    expect(replies.map(({ body }) => [body.status, body.stream.length])).toEqual([
      ['IN_PROGRESS', 4],
      ['COMPLETED', 1],
    ])
  })

  it('[STR-6] a held stream is released by a chunk', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    const reply = queue.get(`/stream/${jobId}?wait=30000`)
    await until(() => inside(queue, ({ core }) => core.parking.waitingJobs === 1))
    await worker.stream(jobId, { output: 1 })
    expect((await reply).body.stream).toEqual([{ output: 1 }])
  })

  it('[STR-9] the last reply of a failed job carries its error beside the status', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, { error: 'boom' }, true)
    expect((await queue.post(`/stream/${jobId}`)).body).toEqual({ error: 'boom', status: 'FAILED', stream: [] })
  })
})

describe('cancel, retry, purge', () => {
  it('[CTL-1] cancels a queued job, and again without harm', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 0, idleTimeout: 5 } })
    const jobId = await run(queue)
    expect((await queue.post(`/cancel/${jobId}`)).body).toMatchObject({ id: jobId, status: 'CANCELLED' })
    expect((await queue.post(`/cancel/${jobId}`)).body).toMatchObject({ status: 'CANCELLED' })
  })

  it('[WRK-26] cancelling a running job is final at once and reaches the worker', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    const [stop] = await parkStopPoll(queue, worker)
    const cancelledAtMs = Date.now()
    expect((await queue.post(`/cancel/${jobId}`)).body).toMatchObject({ status: 'CANCELLED', workerId: worker.id })
    expect(await stop).toEqual([jobId])
    expect(Date.now() - cancelledAtMs, 'woken, not found by the end of the hold').toBeLessThan(10_000)
    await worker.done(jobId, { output: 'too late' })
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'CANCELLED' })
  })

  it('[CTL-2] retry of a job that is queued already is refused and leaves it in its place', async () => {
    const queue = await setUpQueue()
    const [first, second] = [await run(queue), await run(queue)]
    const refused = await queue.post(`/retry/${first}`)
    expect(refused.status).toBe(400)
    expect(refused.body.detail).toBe(`job ${first} is IN_QUEUE; only FAILED and TIMED_OUT jobs can be retried`)
    const worker = await queue.host.startWorker(queue.endpointId)
    expect([(await worker.take())?.id, (await worker.take())?.id]).toEqual([first, second])
  })

  it('[CTL-2] retry puts a failed job back under its id and refuses any other', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue, { n: 1 })
    expect((await queue.post(`/retry/${jobId}`)).status).toBe(400)
    await worker.done(jobId, { error: 'boom' })
    expect((await queue.post(`/retry/${jobId}`)).body).toEqual({ id: jobId, status: 'IN_QUEUE' })
    expect((await queue.post(`/retry/${jobId}`)).status).toBe(400)
    const record = (await queue.get(`/status/${jobId}`)).body
    expect(record).toMatchObject({ id: jobId, status: 'IN_QUEUE' })
    expect(record.error).toBeUndefined()
  })

  it('[CTL-3] purge removes queued jobs only', async () => {
    const queue = await setUpQueue()
    const { jobId } = await runAndTake(queue)
    const queued = [await run(queue), await run(queue)]
    expect((await queue.post('/purge-queue')).body).toEqual({ removed: 2, status: 'completed' })
    expect((await queue.get(`/status/${jobId}`)).body.status).toBe('IN_PROGRESS')
    expect((await queue.get(`/status/${queued[0]}`)).body.status).toBe('CANCELLED')
  })
})
