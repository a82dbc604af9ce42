import { ExplainReply } from '../../../../src/contract/jobs/explain.ts'
import { api, createAccount, createEndpoint, describe, env, evictDurableObject, expect, it } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { type QueueSetup, run, runAndTake, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'
import { until } from '../../../support/time.ts'

const explain = async (queue: QueueSetup, jobId: string) => {
  const reply = await queue.get(`/explain/${jobId}`)
  expect(reply.status).toBe(200)
  expect(ExplainReply.parse(reply.body)).toEqual(reply.body)
  return reply.body
}
const gpu = (typeId: string, cudaVersion: string | null = '12.8') => ({
  typeId,
  count: 1,
  memoryMb: 1,
  driverVersion: null,
  cudaVersion,
  simulated: true,
})

describe('[HLT-6] explain', () => {
  it('a new job: the worker that was started for it, and the decision about it', async () => {
    const queue = await setUpQueue()
    const jobId = await run(queue)
    expect(await explain(queue, jobId)).toEqual({
      id: jobId,
      status: 'IN_QUEUE',
      position: 0,
      reason: 'WORKER_STARTING',
      detail: 'A worker is being started for the queue.',
      ahead: { normal: 0, low: 0 },
      workers: [{ id: expect.any(String), status: 'INITIALIZING', reason: expect.any(String) }],
      scaling: {
        desired: 1,
        current: expect.any(Number),
        max: 1,
        reason: expect.any(String),
        decidedAt: expect.stringMatching(/^\d{4}-.*Z$/),
        inputs: expect.objectContaining({ scaler: 'QUEUE_DELAY', scalerValue: 4, queued: 1, workersMax: 1, release: 1 }),
      },
      code: 'WORKER_STARTING',
      verdict: 'A worker is being started for the queue.',
      since: expect.stringMatching(/^\d{4}-.*Z$/),
      sinceMs: expect.any(Number),
      evidence: expect.any(Array),
      options: [],
      asOf: expect.stringMatching(/^\d{4}-.*Z$/),
      isStale: false,
    })
  })

  it('positions are exact, normal jobs before low ones, and end when the job leaves the queue', async () => {
    const queue = await setUpQueue()
    const low = [await run(queue, {}, { lowPriority: true }), await run(queue, {}, { lowPriority: true })]
    const { jobId, worker } = await runAndTake(queue)
    const normal = [await run(queue), await run(queue)]
    const seen = await Promise.all([...normal, ...low].map(async (id) => explain(queue, id)))
    expect(seen.map(({ position, ahead, reason }) => [position, ahead.normal, ahead.low, reason])).toEqual([
      [0, 0, 0, 'WORKERS_BUSY'],
      [1, 1, 0, 'BEHIND_OTHERS'],
      [2, 2, 0, 'LOW_PRIORITY'],
      [3, 2, 1, 'LOW_PRIORITY'],
    ])
    expect(await explain(queue, jobId)).toMatchObject({
      position: null,
      reason: 'RUNNING',
      ahead: { normal: 0, low: 0 },
      workers: [{ id: worker.id, status: 'RUNNING' }],
    })
    await worker.done(jobId, { output: 1 })
    expect(await explain(queue, jobId)).toMatchObject({ status: 'COMPLETED', position: null, reason: 'FINISHED' })
  })

  it('a retried job stands at the end, a requeued one at the head', async () => {
    const queue = await setUpQueue()
    const first = await runAndTake(queue)
    const [second, third] = [await run(queue), await run(queue)]
    await queue.host.report(first.worker.id, { state: 'exited', exitCode: 1, reason: 'exited with code 1' })
    expect((await explain(queue, first.jobId)).position).toBe(0)
    expect((await explain(queue, second)).position).toBe(1)
    expect((await explain(queue, third)).position).toBe(2)
    expect(await explain(queue, third)).toMatchObject({
      reason: 'WORKER_STARTING',
      workers: [{ status: 'UNHEALTHY', reason: 'exited with code 1' }, { status: 'INITIALIZING' }],
    })
  })

  it('[SCALE-4] a low priority job alone has the reason why it starts no worker, also in its status', async () => {
    const queue = await setUpQueue()
    const jobId = await run(queue, {}, { lowPriority: true })
    expect(await explain(queue, jobId)).toMatchObject({ reason: 'LOW_PRIORITY', position: 0, workers: [], scaling: { desired: 0 } })
    expect((await queue.get(`/status/${jobId}`)).body.queue.reason).toBe('low priority jobs start no worker')
  })

  it('workers.max 0', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 0, idleTimeout: 5 } })
    const body = await explain(queue, await run(queue))
    expect(body).toMatchObject({ reason: 'SCALED_TO_ZERO_BY_CONFIG', scaling: { desired: 0, max: 0 } })
    expect(body.placement).toBeUndefined()
  })

  it('[WHY-20] [WHY-21] without room it names each host and its missing resources, also an offline one; host ids are opaque and differ by account', async () => {
    const hosts = [await FakeHost.join({ gpus: [gpu('NVIDIA H200', '12.4')] }), await FakeHost.join({ gpus: [gpu('NVIDIA H200')] })]
    await env.DB.prepare("UPDATE hosts SET status = 'OFFLINE' WHERE id = ?").bind(hosts[1]?.id).run()
    const wants = { gpu: { pools: ['HOPPER_141'], count: 2, minCudaVersion: '12.8' } }
    const [queue, otherTenant] = [await setUpQueue(wants), await setUpQueue(wants)]
    const jobs = [await run(queue), await run(otherTenant)]
    await until(
      async () =>
        (await queue.get('/health')).body.workers.throttled === 1 && (await otherTenant.get('/health')).body.workers.throttled === 1,
    )
    const body = await explain(queue, jobs[0] ?? '')
    expect(body.reason).toBe('NO_CAPACITY')
    expect(body.workers).toEqual([{ id: expect.any(String), status: 'THROTTLED', reason: expect.stringContaining('no capacity') }])
    const failed = body.placement.map((host: { failed: string[] }) => host.failed)
    expect(failed).toContainEqual(['needs 2 free NVIDIA H200', 'needs CUDA 12.8'])
    expect(failed).toContainEqual(['needs a host that is online', 'needs 2 free NVIDIA H200'])
    expect(JSON.stringify(body.placement)).not.toContain(' > ')
    const other = await explain(otherTenant, jobs[1] ?? '')
    const ids = (reply: ExplainReply) => (reply.placement ?? []).map((host) => host.hostId)
    expect(new Set([...ids(body), ...ids(other)]).size).toBe(6)
    expect(ids(await explain(queue, jobs[0] ?? ''))).toEqual(ids(body))
    for (const host of hosts) expect(JSON.stringify(body)).not.toContain(host.id)
    for (const host of hosts) host.leave()
  })

  it('an object that has just loaded explains as well', async () => {
    const queue = await setUpQueue()
    const jobId = await run(queue, {}, { lowPriority: true })
    await evictDurableObject(endpointStub(env, queue.endpointId))
    expect(await explain(queue, jobId)).toMatchObject({ reason: 'LOW_PRIORITY', scaling: { desired: 0, inputs: { queued: 0 } } })
  })

  it('[API-5, JOB-8] unknown jobs, other methods, and the jobs of others', async () => {
    const queue = await setUpQueue()
    const jobId = await run(queue)
    expect((await queue.get('/explain/nosuchjob')).status).toBe(404)
    expect((await queue.get('/explain')).status).toBe(404)
    expect((await queue.post(`/explain/${jobId}`)).status).toBe(405)
    const otherTenant = await createAccount()
    const own = await createEndpoint(otherTenant.key)
    expect((await api(otherTenant.key).get(`/v2/${queue.endpointId}/explain/${jobId}`)).status).toBe(404)
    expect((await api(otherTenant.key).get(`/v2/${own}/explain/${jobId}`)).status).toBe(404)
  })

  it('an idle worker: the job is next', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, { output: 1 })
    const next = await run(queue)
    const body = await explain(queue, next)
    expect(body).toMatchObject({ reason: 'NEXT', position: 0, workers: [{ id: worker.id, status: 'IDLE', reason: 'asks for work' }] })
    expect((await queue.get(`/status/${next}`)).body.queue).toBeUndefined()
  })
})
