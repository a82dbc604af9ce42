import { admin, api, describe, env, evictDurableObject, expect, it, ORIGIN, runInDurableObject, send } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { advance, inside, parkStopPoll, parkTake, run, runAndTake, settled, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'

const P = 10_000
const NO_TAKE_MS = 120_000

describe('nothing gets stuck', () => {
  it('[LSE-9, CTL-2] a retried job replaces the warm worker that may not hold it again, and blocks no other', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, { error: 'boom' })
    expect((await queue.post(`/retry/${jobId}`)).status).toBe(200)
    expect(await worker.take()).toBeNull()
    await queue.host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
    const fresh = await run(queue)
    const second = await queue.host.startWorker(queue.endpointId, [worker.id])
    const taken = [await second.take().then((job) => job?.id)]
    await second.done(taken[0] ?? '', { output: 1 })
    taken.push(await second.take().then((job) => job?.id))
    expect(taken).toEqual([jobId, fresh])
  })

  it('a restart of the object during the back-off does not lose the next start', async () => {
    const queue = await setUpQueue()
    await run(queue)
    const workload = await queue.host.waitFor((w) => w.platformEnv.RUNPOD_ENDPOINT_ID === queue.endpointId)
    await queue.host.report(workload.id, { state: 'error', reason: 'image pull failed' })
    const stub = endpointStub(env, queue.endpointId)
    await evictDurableObject(stub)
    await queue.post('/cancel/no-such-job')
    await queue.host.waitFor(
      (w) => w.platformEnv.RUNPOD_ENDPOINT_ID === queue.endpointId && w.id !== workload.id && w.desired === 'running',
    )
  })

  it('[WRK-44] a worker that pings but stopped asking for work is failed and replaced', async () => {
    const queue = await setUpQueue({ workers: { min: 1, max: 1, idleTimeout: 3600 } })
    const worker = await queue.host.startWorker(queue.endpointId)
    await parkTake(queue, worker)
    // The hold of the take is over, which the clock of the test does not know.
    await inside(queue, ({ core }) => core.parking.releaseTake(worker.id))
    for (let ms = 0; ms <= NO_TAKE_MS; ms += P) {
      await worker.ping()
      await advance(queue.endpointId, P)
    }
    await queue.host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
    expect((await queue.get('/health')).body.workers.unhealthy).toBe(1)
  })

  it('a container that fails before its placement is recorded frees its capacity', async () => {
    const queue = await setUpQueue()
    await run(queue)
    const stub = endpointStub(env, queue.endpointId)
    const workload = await queue.host.waitFor((w) => w.platformEnv.RUNPOD_ENDPOINT_ID === queue.endpointId)
    await runInDurableObject(stub, (object) => {
      const worker = object.core.state.workers.get(workload.id)
      if (worker) object.core.state.workers.save({ ...worker, phase: 'PLACING', hostId: null, nextAttemptAtMs: 0, attempts: 0 })
    })
    await queue.host.report(workload.id, { state: 'error', reason: 'engine refused' })
    await queue.host.waitFor((w) => w.id === workload.id && w.desired === 'stopped')
    await queue.host.report(workload.id, { state: 'gone' })
    const row = await env.DB.prepare('SELECT COUNT(*) AS n FROM allocations WHERE id = ?').bind(workload.id).first<{ n: number }>()
    expect(row?.n).toBe(0)
  })

  it('[ADM-2] a host that never returns can be removed, and its jobs continue on other hosts', async () => {
    const host = await FakeHost.join({
      gpus: [{ typeId: 'NVIDIA L4', count: 1, memoryMb: 24_576, driverVersion: null, cudaVersion: null, simulated: true }],
    })
    const queue = await setUpQueue({ gpu: { pools: ['AMPERE_24'] } })
    const jobId = await run(queue)
    const worker = await host.startWorker(queue.endpointId)
    expect((await worker.take())?.id).toBe(jobId)
    expect((await admin().delete(`/admin/v1/hosts/${host.id}`)).body).toMatchObject({ status: 409, code: 'IN_USE' })
    await env.DB.prepare("UPDATE hosts SET status = 'OFFLINE' WHERE id = ?").bind(host.id).run()
    expect((await admin().delete(`/admin/v1/hosts/${host.id}`)).status).toBe(204)
    expect((await queue.get(`/status/${jobId}`)).body.status).toBe('IN_QUEUE')
    const row = await env.DB.prepare('SELECT COUNT(*) AS n FROM allocations WHERE id = ?').bind(worker.id).first<{ n: number }>()
    expect(row?.n).toBe(0)
  })

  it('[WRK-29, LSE-4] a worker that lost one job finishes its others before it is stopped', async () => {
    const queue = await setUpQueue()
    const ids = [await run(queue), await run(queue)]
    const worker = await queue.host.startWorker(queue.endpointId)
    await worker.takeBatch(2)
    await worker.ping(ids)
    await worker.ping([ids[1] ?? ''])
    await worker.ping([ids[1] ?? ''])
    expect((await queue.get(`/status/${ids[0]}`)).body.status).toBe('IN_QUEUE')
    await settled(queue)
    expect(queue.host.desired().find((w) => w.id === worker.id)?.desired).toBe('running')
    await worker.done(ids[1] ?? '', { output: 'kept' })
    await queue.host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
    expect((await queue.get(`/status/${ids[1]}`)).body).toMatchObject({ status: 'COMPLETED', output: 'kept' })
  })
})

describe('stopped jobs', () => {
  it('[WRK-45] a worker that continues a stopped job is busy, and the next job gets another worker at once', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 2, idleTimeout: 60 } })
    const { jobId, worker } = await runAndTake(queue, {}, { executionTimeout: 5_000 })
    await worker.ping([jobId])
    await advance(queue.endpointId, 5_000)
    expect((await queue.get(`/status/${jobId}`)).body.error).toBe('executionTimeout exceeded')
    expect((await queue.get('/health')).body.workers).toMatchObject({ idle: 0, ready: 0, running: 1 })
    const next = await run(queue)
    const second = await queue.host.startWorker(queue.endpointId, [worker.id])
    expect((await second.take())?.id).toBe(next)
  })

  it('[WRK-45] a worker that has released it and takes is free again', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await queue.post(`/cancel/${jobId}`)
    expect(await worker.stopPoll()).toEqual([jobId])
    const [open] = await parkTake(queue, worker)
    expect((await queue.get('/health')).body.workers).toMatchObject({ idle: 1, running: 0 })
    const next = await run(queue)
    expect((await open)?.id).toBe(next)
  })
})

describe('polls', () => {
  it('[WRK-25] a second stop poll displaces the first at once, and the two do not wake each other', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    const [first] = await parkStopPoll(queue, worker)
    const second = worker.stopPoll()
    expect(await first).toEqual([])
    await queue.post(`/cancel/${jobId}`)
    expect(await second).toEqual([jobId])
  })

  it('[WRK-25, WRK-26] a stop poll receives an order that was committed together with it', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    const stopUrl = worker.url('RUNPOD_WEBHOOK_GET_JOB', '').replace('/job-take/', '/job-stop/')
    const cancelUrl = `/v2/${queue.endpointId}/cancel/${jobId}`
    const received = await runInDurableObject(endpointStub(env, queue.endpointId), async (object) => {
      const poll = object.fetch(new Request(ORIGIN + stopUrl))
      const cancel = object.fetch(new Request(ORIGIN + cancelUrl, { method: 'POST' }))
      await (await cancel).text()
      const cancelledAtMs = Date.now()
      return { text: await (await poll).text(), afterMs: Date.now() - cancelledAtMs }
    })
    expect(received.text).toBe(JSON.stringify({ jobsToStop: [jobId] }))
    expect(received.afterMs, 'told, not found by the end of the hold').toBeLessThan(10_000)
  })

  it('[WRK-25, WRK-26] a stop poll whose connection broke leaves the order to the next one', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    const stopUrl = worker.url('RUNPOD_WEBHOOK_GET_JOB', '').replace('/job-take/', '/job-stop/')
    await queue.post(`/cancel/${jobId}`)
    await runInDurableObject(endpointStub(env, queue.endpointId), async (object) => {
      const broken = AbortSignal.abort()
      expect((await object.fetch(new Request(ORIGIN + stopUrl, { signal: broken }))).status).toBe(204)
    })
    expect(await worker.stopPoll()).toEqual([jobId])
  })

  it('[LSE-1, INV-23] a take whose connection broke gets no job', async () => {
    const queue = await setUpQueue({ workers: { min: 1, max: 1, idleTimeout: 60 } })
    const worker = await queue.host.startWorker(queue.endpointId)
    const gone = new AbortController()
    const take = worker.take({ signal: gone.signal }).catch(() => null)
    gone.abort()
    await take
    const jobId = await run(queue)
    const again = await worker.take()
    expect(again?.id).toBe(jobId)
    expect((await queue.get(`/status/${jobId}`)).body.retries).toBeUndefined()
  })

  it('[WRK-18] posts to a deleted endpoint are answered 200, polls are slowed down', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await api(queue.account.key).delete(`/v2/serverless/${queue.endpointId}`)
    expect(await worker.done(jobId, { output: 1 })).toBe(200)
    expect(await worker.ping([jobId])).toBe(200)
    expect((await worker.takeRaw()).status).toBe(429)
  })
})

describe('results of any shape are stored', () => {
  it('[WRK-5] megabytes with a NaN in them', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    expect(await worker.done(jobId, `{"output": {"loss": NaN, "text": "${'x"y'.replace('"', '\\"').repeat(4_000_000)}"}}`)).toBe(200)
    const { body } = await queue.get(`/status/${jobId}`)
    expect([body.status, body.output.loss, body.output.text.length]).toEqual(['COMPLETED', null, 12_000_000])
  })

  it('an error of megabytes is truncated to its beginning', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    expect(await worker.done(jobId, { error: 'e'.repeat(5_000_000) })).toBe(200)
    const { body } = await queue.get(`/status/${jobId}`)
    expect(body.status).toBe('FAILED')
    expect(body.error).toMatch(/^e{65536}… \(5000000 characters\)$/)
  })

  it('[STR-20] a chunk that escaping makes too large fails the job with that reason', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    expect(await worker.stream(jobId, '\u0001'.repeat(900_000))).toBe(200)
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'FAILED' })
  })

  it('[JOB-6] a cancelled job does not keep its last progress as output', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, { status: 'IN_PROGRESS', output: '50%' })
    await queue.post(`/cancel/${jobId}`)
    expect((await queue.get(`/status/${jobId}`)).body.output).toBeUndefined()
  })
})

it('[LSE-3, LSE-4] a ping that crossed the take does not bring a lost job back', async () => {
  const queue = await setUpQueue()
  const { jobId, worker } = await runAndTake(queue)
  await worker.ping([jobId])
  await parkTake(queue, worker)
  await worker.ping([jobId])
  await advance(queue.endpointId, 2_500)
  expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'IN_QUEUE', retries: 1 })
})

it('[LIM-2] an oversize body is refused with its limit, with and without an announced length', async () => {
  const queue = await setUpQueue()
  const large = `{"input":{"x":"${'x'.repeat(10 * 2 ** 20)}"}}`
  const announced = await queue.post('/run', large)
  expect([announced.status, announced.body.detail]).toEqual([413, 'request body exceeds 10485760 bytes'])
  const stream = new Response(large).body
  const headers = { Authorization: `Bearer ${queue.account.key}`, 'Content-Type': 'application/json' }
  const streamed = await send(`/v2/${queue.endpointId}/run`, { method: 'POST', headers, body: stream })
  expect(streamed.status).toBe(413)
})

it('[LIM-2] a false length lets nothing larger through, whether the body is chunked or not', async () => {
  const queue = await setUpQueue({ workers: { min: 0, max: 0 } })
  const large = `{"input":{"x":"${'x'.repeat(10 * 2 ** 20)}"}}`
  const headers = { Authorization: `Bearer ${queue.account.key}`, 'Content-Length': '20' }
  for (const extra of [{}, { 'Transfer-Encoding': 'chunked' }]) {
    const reply = await send(`/v2/${queue.endpointId}/run`, {
      method: 'POST',
      headers: { ...headers, ...extra },
      body: new Response(large).body,
    })
    expect(reply.status).toBe(413)
  }
  expect((await queue.get('/health')).body.jobs.inQueue).toBe(0)
})

it('[LSE-1] a take whose commit failed is not parked: no job is leased to it', async () => {
  const queue = await setUpQueue()
  const { jobId, worker } = await runAndTake(queue)
  await worker.done(jobId, { output: 1 })
  const stub = endpointStub(env, queue.endpointId)
  await runInDurableObject(stub, ({ core: { outbox } }) => {
    // Called at the end of every commit.
    const dueAtMs = outbox.dueAtMs.bind(outbox)
    outbox.dueAtMs = () => {
      outbox.dueAtMs = dueAtMs
      throw new Error('the disk is full')
    }
  })
  expect((await worker.takeRaw()).status).toBe(429)
  const next = await run(queue)
  expect((await queue.get(`/status/${next}`)).body.status).toBe('IN_QUEUE')
  expect((await worker.take())?.id).toBe(next)
})
