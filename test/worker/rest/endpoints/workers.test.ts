import { ListScalingResponse } from '../../../../src/contract/endpoints/scaling.ts'
import { ListWorkersResponse } from '../../../../src/contract/endpoints/workers.ts'
import { api, describe, expect, it } from '../../../support/harness.ts'
import { advance, freezeClock, parkTake, type QueueSetup, run, runAndTake, setUpQueue } from '../../../support/queue/queue.ts'
import { until } from '../../../support/time.ts'

const list = async (queue: QueueSetup) => {
  const reply = await api(queue.account.key).get(`/v2/serverless/${queue.endpointId}/workers`)
  expect(reply.status).toBe(200)
  expect(ListWorkersResponse.parse(reply.body)).toEqual(reply.body)
  const { total, ...counts } = reply.body.summary
  expect(
    Object.values<number>(counts).reduce((sum, n) => sum + n, 0),
    'the five add up',
  ).toBe(total)
  expect(reply.body.workers).toHaveLength(total)
  return reply.body
}
const patch = (queue: QueueSetup, body: unknown) => api(queue.account.key).patch(`/v2/serverless/${queue.endpointId}`, body)

describe('[END-13, SCALE-7] workers', () => {
  it('an endpoint without workers', async () => {
    const queue = await setUpQueue()
    expect(await list(queue)).toEqual({
      workers: [],
      summary: { running: 0, idle: 0, initializing: 0, throttled: 0, unhealthy: 0, total: 0 },
      endpointVersion: 1,
    })
  })

  it('a worker from start to work, whole', async () => {
    const queue = await setUpQueue()
    const jobId = await run(queue)
    await until(async () => (await list(queue)).workers[0]?.gpuTypeId !== null)
    const [starting] = (await list(queue)).workers
    expect(starting).toMatchObject({ status: 'INITIALIZING', startedAt: null, uptimeSeconds: null, gpuTypeId: 'NVIDIA GeForce RTX 4090' })
    const worker = await queue.host.startWorker(queue.endpointId)
    expect((await worker.take())?.id).toBe(jobId)
    expect((await list(queue)).workers).toEqual([
      {
        id: worker.id,
        status: 'RUNNING',
        isStale: false,
        version: 1,
        gpuCount: 1,
        image: 'builtin/echo',
        uptimeSeconds: expect.any(Number),
        gpuTypeId: 'NVIDIA GeForce RTX 4090',
        dataCenterId: 'LOCAL-1',
        startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        reason: null,
      },
    ])
    await worker.done(jobId, { output: 1 })
    expect(await list(queue)).toMatchObject({ summary: { idle: 1, total: 1 }, workers: [{ status: 'IDLE' }] })
  })

  it('[HLT-3] agrees with /health, whatever the workers do', async () => {
    const queue = await setUpQueue({ workers: { min: 2, max: 3, idleTimeout: 60 } })
    const { worker } = await runAndTake(queue)
    const idle = await queue.host.startWorker(queue.endpointId, [worker.id])
    await parkTake(queue, idle)
    await queue.host.report(worker.id, { state: 'exited', exitCode: 1, reason: 'exited with code 1' })
    const { summary } = await list(queue)
    const { ready, ...counts } = (await queue.get('/health')).body.workers
    expect({ ...counts, total: summary.total }).toEqual(summary)
    expect(ready).toBe(summary.idle)
  })

  it('[SCALE-6] a stale worker keeps its version and image while it finishes; a draining one is not shown', async () => {
    const queue = await setUpQueue({ image: 'builtin/echo' })
    const { jobId, worker } = await runAndTake(queue)
    expect((await patch(queue, { image: 'builtin/probe' })).status).toBe(200)
    expect(await list(queue)).toMatchObject({
      endpointVersion: 2,
      workers: [{ id: worker.id, isStale: true, version: 1, image: 'builtin/echo', status: 'RUNNING' }],
    })
    await worker.done(jobId, { output: 1 })
    await queue.host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
    expect((await list(queue)).workers).toEqual([])
  })

  it('[WRK-47] an unhealthy worker has the reason, a throttled one the missing capacity', async () => {
    const queue = await setUpQueue()
    await run(queue)
    const workload = await queue.host.waitFor((w) => w.platformEnv.RUNPOD_ENDPOINT_ID === queue.endpointId)
    await queue.host.report(workload.id, { state: 'error', reason: 'image pull failed: no such image' })
    expect((await list(queue)).workers[0]).toMatchObject({ status: 'UNHEALTHY', reason: 'image pull failed: no such image' })
    const full = await setUpQueue({ gpu: { pools: ['BLACKWELL_180'] } })
    await run(full)
    await until(async () => (await list(full)).summary.throttled === 1)
    expect((await list(full)).workers[0]).toMatchObject({
      status: 'THROTTLED',
      gpuTypeId: null,
      reason: expect.stringContaining('no capacity'),
    })
  })
})

describe('[SCALE-16] scaling decisions', () => {
  it('newest first, with the policy, whole', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 2, idleTimeout: 5 } })
    await freezeClock(queue.endpointId)
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, { output: 1 })
    await advance(queue.endpointId, 5_000)
    const reply = await api(queue.account.key).get(`/v2/serverless/${queue.endpointId}/scaling`)
    expect(ListScalingResponse.parse(reply.body)).toEqual(reply.body)
    expect(reply.body.scaling).toEqual({ type: 'QUEUE_DELAY', queueDelay: 4 })
    expect(reply.body.decisions).toMatchObject([
      { desired: 0, current: 1, started: 0, stopped: 1, reason: 'idle for 5 s', max: 2 },
      { desired: 1, current: 0, started: 1, stopped: 0, inputs: { queued: 1, running: 0, longestWaitMs: 0, workersMin: 0, workersMax: 2 } },
    ])
  })
})
