import { api, createAccount, describe, env, expect, it, runInDurableObject } from '../../../support/harness.ts'
import { advance, freezeClock, parkTake, run, runAndTake, settled, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'
import { until } from '../../../support/time.ts'

const P = 10_000

describe('leases end and jobs move on', () => {
  it('[LSE-2] a job without confirmation goes to another worker after 3 P, and completes once', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 2, idleTimeout: 60 } })
    const { jobId, worker } = await runAndTake(queue)
    await advance(queue.endpointId, 3 * P - 500)
    expect((await queue.get(`/status/${jobId}`)).body.status).toBe('IN_PROGRESS')
    await advance(queue.endpointId, 1_000)
    const second = await queue.host.startWorker(queue.endpointId, [worker.id])
    expect((await second.take())?.id).toBe(jobId)
    await worker.done(jobId, { output: 'from the first' })
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'IN_PROGRESS', workerId: second.id })
    await second.done(jobId, { output: 'from the second' })
    await worker.done(jobId, { output: 'again from the first' })
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'COMPLETED', output: 'from the second' })
  })

  it('[LSE-4, INV-24] a job that is still pinged is never requeued', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    for (let i = 0; i < 8; i++) {
      await worker.ping([jobId])
      await advance(queue.endpointId, 3 * P)
    }
    await worker.done(jobId, { output: 1 })
    const { body } = await queue.get(`/status/${jobId}`)
    expect(body).toMatchObject({ status: 'COMPLETED' })
    expect(body.retries).toBeUndefined()
  })

  it('[LSE-5] a result that was dropped on the way shows as a job missing from two pings', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.ping([jobId])
    await worker.ping([])
    expect((await queue.get(`/status/${jobId}`)).body.status).toBe('IN_PROGRESS')
    await worker.ping([])
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'IN_QUEUE', retries: 1 })
  })

  it('[LSE-3] a worker that asks for work while holding a job loses it after 2 s', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.ping([jobId])
    await parkTake(queue, worker)
    await advance(queue.endpointId, 1_500)
    expect((await queue.get(`/status/${jobId}`)).body.status).toBe('IN_PROGRESS')
    await advance(queue.endpointId, 1_000)
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'IN_QUEUE', retries: 1 })
  })

  it('[LSE-11] a late final result is accepted while the job waits for its next attempt', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 1, idleTimeout: 60 } })
    const { jobId, worker } = await runAndTake(queue)
    await advance(queue.endpointId, 3 * P)
    expect((await queue.get(`/status/${jobId}`)).body.status).toBe('IN_QUEUE')
    await worker.done(jobId, { output: 'late but whole' })
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'COMPLETED', output: 'late but whole' })
  })

  it('[LSE-12] chunks and progress of a lost attempt are not part of the next one', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 2, idleTimeout: 60 } })
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, { status: 'IN_PROGRESS', output: '50%' })
    await worker.stream(jobId, { output: 'from the first' })
    await queue.host.report(worker.id, { state: 'exited', exitCode: 1 })
    await advance(queue.endpointId, 1_000)
    const second = await queue.host.startWorker(queue.endpointId, [worker.id])
    expect((await second.take())?.id).toBe(jobId)
    expect((await queue.get(`/status/${jobId}`)).body.output).toBeUndefined()
    await second.stream(jobId, { output: 'from the second' })
    expect((await queue.get(`/stream/${jobId}`)).body.stream).toEqual([{ output: 'from the second' }])
  })

  it('[WRK-26, LSE-12] a stop that the worker missed is repeated while it pings the job', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await queue.post(`/cancel/${jobId}`)
    expect(await worker.stopPoll()).toEqual([jobId])
    await worker.ping([])
    await worker.ping([jobId])
    expect(await worker.stopPoll()).toEqual([jobId])
  })

  it.each([
    ['1.7.10', 'IN_QUEUE'],
    ['1.7.11', 'IN_PROGRESS'],
    ['1.8.0', 'IN_PROGRESS'],
    ['1.9.3', 'IN_PROGRESS'],
    ['1.10.0', 'IN_PROGRESS'],
    ['1.10.1', 'IN_QUEUE'],
    ['no version', 'IN_QUEUE'],
  ])('[WRK-21, LSE-5] a job that SDK %s misses in two pings is %s', async (sdkVersion, status) => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.ping([jobId], sdkVersion)
    await worker.ping([], sdkVersion)
    await worker.ping([], sdkVersion)
    expect((await queue.get(`/status/${jobId}`)).body.status).toBe(status)
  })

  it('[LSE-10] another boot of the same worker changes nothing', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    const ghost = worker.withBoot('an-older-boot')
    expect(await ghost.done(jobId, { output: 'ghost' })).toBe(200)
    expect(await ghost.stream(jobId, { output: 'ghost' })).toBe(200)
    expect(await ghost.ping([jobId])).toBe(200)
    expect((await ghost.takeRaw()).status).toBe(429)
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'IN_PROGRESS' })
  })

  it('[LSE-7, TMO-6, JOB-10] a silent worker is unhealthy after 4 P; after the second loss the job fails with the reason', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 2, idleTimeout: 60 } })
    const { jobId, worker } = await runAndTake(queue)
    await worker.ping([jobId])
    await advance(queue.endpointId, 4 * P)
    expect((await queue.get('/health')).body.workers.unhealthy).toBe(1)
    await advance(queue.endpointId, 2_000)
    const second = await queue.host.startWorker(queue.endpointId, [worker.id])
    expect((await second.take())?.id).toBe(jobId)
    await queue.host.report(second.id, { state: 'exited', exitCode: 137, reason: 'exited with code 137' })
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({
      status: 'FAILED',
      error: 'job timed out after 1 retries',
      errorDetail: 'exited with code 137',
      retries: 1,
    })
  })

  it('[LSE-7] an idle worker that falls silent is unhealthy too', async () => {
    const queue = await setUpQueue({ workers: { min: 1, max: 1, idleTimeout: 60 } })
    const worker = await queue.host.startWorker(queue.endpointId)
    await parkTake(queue, worker)
    await advance(queue.endpointId, 4 * P - 1_000)
    expect((await queue.get('/health')).body.workers).toMatchObject({ idle: 1, unhealthy: 0 })
    await advance(queue.endpointId, 1_500)
    expect((await queue.get('/health')).body.workers).toMatchObject({ idle: 0, unhealthy: 1 })
    await queue.host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
  })

  it('[LSE-7] two jobs of one silent worker are each requeued once', async () => {
    const queue = await setUpQueue()
    const ids = [await run(queue), await run(queue)]
    const worker = await queue.host.startWorker(queue.endpointId)
    expect((await worker.takeBatch(2)).map((job) => job.id)).toEqual(ids)
    await worker.ping(ids)
    await advance(queue.endpointId, 4 * P)
    for (const id of ids) expect((await queue.get(`/status/${id}`)).body).toMatchObject({ status: 'IN_QUEUE', retries: 1 })
    expect((await queue.get('/health')).body.jobs).toEqual({ completed: 0, failed: 0, inProgress: 0, inQueue: 2, retried: 2 })
  })

  it('[WRK-24] a container that ended gives its job back at once, without waiting for pings', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 2, idleTimeout: 60 } })
    const { jobId, worker } = await runAndTake(queue)
    await worker.ping([jobId])
    await queue.host.report(worker.id, { state: 'exited', exitCode: 1, reason: 'exited with code 1: ImportError' })
    await queue.host.report(worker.id, { state: 'gone' })
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({
      status: 'IN_QUEUE',
      retries: 1,
      queue: { reason: 'a worker is starting, because the previous one ended: exited with code 1: ImportError' },
    })
  })

  it('[WRK-16] a worker that asks to be stopped is drained after its result is stored', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, { output: 1, stopPod: true })
    expect((await queue.get(`/status/${jobId}`)).body.status).toBe('COMPLETED')
    await queue.host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
  })

  it('[WRK-23] a worker that reports itself unhealthy shows its reason', async () => {
    const queue = await setUpQueue()
    const jobId = await run(queue)
    const worker = await queue.host.startWorker(queue.endpointId)
    await worker.unhealthy('gpu', 'no CUDA device')
    expect((await queue.get(`/status/${jobId}`)).body.queue).toMatchObject({ reason: 'gpu: no CUDA device', workers: { unhealthy: 1 } })
  })
})

describe('timers', () => {
  it('[TMO-2, JOB-10] the execution timeout fails the job, stops the worker, and kills it when it continues', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue, {}, { executionTimeout: 5_000 })
    // With a moving clock, the silence after the last ping would stop the worker too.
    await freezeClock(queue.endpointId)
    await worker.ping([jobId])
    await advance(queue.endpointId, 5_000)
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'FAILED', error: 'executionTimeout exceeded' })
    expect(await worker.stopPoll()).toEqual([jobId])
    await worker.ping([jobId])
    await advance(queue.endpointId, 30_000)
    await worker.ping([jobId])
    const stopped = await queue.host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
    expect(stopped.stopGraceMs).toBe(0)
  })

  it('[TMO-1, JOB-9] a job is deleted at its ttl, whatever its state', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue, {}, { ttl: 10_000 })
    await worker.ping([jobId])
    await advance(queue.endpointId, 10_000)
    expect((await queue.get(`/status/${jobId}`)).status).toBe(404)
    expect(await worker.stopPoll()).toEqual([jobId])
    expect(await worker.done(jobId, { output: 1 })).toBe(200)
    expect((await queue.get(`/status/${jobId}`)).status).toBe(404)
  })

  it('[TMO-3, LIM-4] a /run result is kept 30 minutes, to the millisecond', async () => {
    const queue = await setUpQueue({ workers: { min: 1, max: 1, idleTimeout: 60 } })
    const { jobId, worker } = await runAndTake(queue)
    let nowMs = 0
    await runInDurableObject(endpointStub(env, queue.endpointId), (object) => {
      nowMs = object.core.now()
      object.core.now = () => nowMs
    })
    await worker.done(jobId, { output: 1 })
    nowMs += 30 * 60_000 - 1
    expect((await queue.get(`/status/${jobId}`)).status).toBe(200)
    nowMs += 1
    expect((await queue.get(`/status/${jobId}`)).status).toBe(404)
  })

  it('[LSE-34] an outage of the plane itself does not count as silence of the workers', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.ping([jobId])
    await runInDurableObject(endpointStub(env, queue.endpointId), (object) => {
      const before = object.core.now
      object.core.now = () => before() + 120_000
    })
    await worker.ping([jobId])
    await worker.done(jobId, { output: 'survived' })
    const { body } = await queue.get(`/status/${jobId}`)
    expect(body).toMatchObject({ status: 'COMPLETED', output: 'survived' })
    expect(body.retries).toBeUndefined()
  })

  it('[SCALE-5] an idle worker is stopped after its idle timeout and its row ends with the container', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 1, idleTimeout: 7 } })
    const { jobId, worker } = await runAndTake(queue)
    await freezeClock(queue.endpointId)
    await worker.done(jobId, { output: 1 })
    await advance(queue.endpointId, 6_500)
    expect((await queue.get('/health')).body.workers.idle).toBe(1)
    const [open] = await parkTake(queue, worker)
    const idledOutAtMs = Date.now()
    await advance(queue.endpointId, 1_000)
    expect(await open).toBeNull()
    expect(Date.now() - idledOutAtMs, 'released, not left to the end of the hold').toBeLessThan(10_000)
    await queue.host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
    await queue.host.report(worker.id, { state: 'exited', exitCode: 0 })
    await queue.host.report(worker.id, { state: 'gone' })
    expect((await queue.get('/health')).body.workers).toEqual({
      idle: 0,
      initializing: 0,
      ready: 0,
      running: 0,
      throttled: 0,
      unhealthy: 0,
    })
  })
})

describe('releases', () => {
  it('[SCALE-6, END-12] a worker of an old release finishes its job, gets no other and is replaced', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    expect((await api(queue.account.key).patch(`/v2/serverless/${queue.endpointId}`, { env: { A: '2' } })).status).toBe(200)
    const next = await run(queue)
    await worker.done(jobId, { output: 'finished' })
    expect(await worker.take()).toBeNull()
    await queue.host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
    const second = await queue.host.startWorker(queue.endpointId, [worker.id])
    expect(second.workload.env).toEqual({ A: '2' })
    expect((await second.take())?.id).toBe(next)
    expect((await queue.get(`/status/${jobId}`)).body.output).toBe('finished')
  })
})

describe('failing workers', () => {
  it('[WRK-42, STA-2] an image that cannot be pulled: the job waits with the reason, and starts are backed off', async () => {
    const queue = await setUpQueue()
    const jobId = await run(queue)
    const seen: string[] = []
    for (let attempt = 0; attempt < 3; attempt++) {
      const workload = await queue.host.waitFor(
        (w) => w.platformEnv.RUNPOD_ENDPOINT_ID === queue.endpointId && w.desired === 'running' && !seen.includes(w.id),
      )
      seen.push(workload.id)
      await queue.host.report(workload.id, { state: 'error', reason: 'image pull failed: no such image' })
      await queue.host.report(workload.id, { state: 'gone' })
      expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({
        status: 'IN_QUEUE',
        queue: { reason: 'image pull failed: no such image' },
      })
      await advance(queue.endpointId, 500 * 2 ** attempt)
      await settled(queue)
      const early = queue.host.desired().filter((w) => w.platformEnv.RUNPOD_ENDPOINT_ID === queue.endpointId && w.desired === 'running')
      expect(early, 'no start before the back-off has passed').toEqual([])
      await advance(queue.endpointId, 500 * 2 ** attempt)
    }
    expect(new Set(seen).size).toBe(3)
  })

  it('[STA-2] without capacity the reason names the constraint and the worker shows as throttled', async () => {
    const queue = await setUpQueue({ gpu: { pools: ['HOPPER_141'], count: 1 } })
    const jobId = await run(queue)
    const reason = async () => (await queue.get(`/status/${jobId}`)).body.queue.reason
    await until(async () => (await reason())?.startsWith('no capacity'))
    expect(await reason()).toContain('no capacity: none of 1 online host fits (needs 1 free NVIDIA H200: fails on 1 of 1 hosts)')
    expect((await queue.get('/health')).body.workers.throttled).toBe(1)
  })

  it('[WRK-7] polls of a worker with a wrong key are slowed down, its posts are refused with 401', async () => {
    const queue = await setUpQueue()
    await run(queue)
    const worker = await queue.host.startWorker(queue.endpointId)
    const bad = { headers: { Authorization: 'ppw_wrong' } }
    const { send } = await import('../../../support/harness.ts')
    const take = await send(worker.url('RUNPOD_WEBHOOK_GET_JOB', ''), bad)
    expect([take.status, take.headers.get('retry-after')]).toEqual([429, '5'])
    expect((await send(worker.url('RUNPOD_WEBHOOK_POST_OUTPUT', 'x'), { ...bad, method: 'POST', body: '{}' })).status).toBe(401)
  })

  it('[WRK-40, WRK-2] the key of a worker opens its own endpoint alone', async () => {
    const [own, other] = [await setUpQueue(), await setUpQueue()]
    const { jobId, worker } = await runAndTake(own)
    expect(worker.token).toMatch(/^ppw_/)
    const { send } = await import('../../../support/harness.ts')
    const post = (url: string) => send(url, { method: 'POST', headers: { Authorization: worker.token }, body: '{"output":1}' })
    const url = worker.url('RUNPOD_WEBHOOK_POST_OUTPUT', jobId)
    expect((await post(url.replace(own.endpointId, other.endpointId))).status).toBe(401)
    expect((await post(url)).status).toBe(200)
  })

  it('[WRK-51] a boot nonce with a space or a control character is not one of the plane: it gets no job and ends none', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    const queued = await run(queue)
    for (const boot of ['a b', 'a\nb', ' a', 'x'.repeat(129)]) {
      const strange = worker.withBoot(encodeURIComponent(boot))
      const reply = await strange.takeRaw()
      expect(reply.status).toBe(429)
      expect(await reply.text()).toContain('boot (query): want at most 128 visible ASCII characters without spaces')
      expect(await strange.done(jobId, { output: 1 })).toBe(200)
      expect(await strange.stream(jobId, { output: 1 })).toBe(200)
      expect(await strange.ping([jobId])).toBe(200)
    }
    expect((await queue.get(`/status/${jobId}`)).body.status).toBe('IN_PROGRESS')
    expect((await queue.get(`/status/${queued}`)).body.status).toBe('IN_QUEUE')
    expect(await worker.done(jobId, { output: 2 })).toBe(200)
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'COMPLETED', output: 2 })
  })

  it('[WRK-18] posts about unknown jobs are answered 200', async () => {
    const queue = await setUpQueue()
    const { worker } = await runAndTake(queue)
    expect(await worker.done('no-such-job', { output: 1 })).toBe(200)
    expect(await worker.stream('no-such-job', { output: 1 })).toBe(200)
  })

  it('[END-1] deleting an endpoint cancels its jobs, stops its workers and hides it', async () => {
    const queue = await setUpQueue()
    const { worker } = await runAndTake(queue)
    expect((await api(queue.account.key).delete(`/v2/serverless/${queue.endpointId}`)).status).toBe(204)
    await queue.host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
    expect((await queue.get('/health')).status).toBe(404)
  })

  it("[API-5] another account's endpoint gets the same replies as an unknown one", async () => {
    const queue = await setUpQueue()
    const jobId = await run(queue)
    const otherTenant = api((await createAccount()).key)
    const foreign = await otherTenant.get(`/v2/${queue.endpointId}/status/${jobId}`)
    const unknown = await otherTenant.get(`/v2/aaaaaaaaaaaaaa/status/${jobId}`)
    expect([foreign.status, foreign.body]).toEqual([404, unknown.body])
    expect(foreign.headers.get('content-type')).toBe('application/json')
  })
})
