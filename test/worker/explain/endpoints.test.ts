import { EndpointExplanation } from '../../../src/contract/explain/explain.ts'
import type { ExplainReply } from '../../../src/contract/jobs/explain.ts'
import { dropExplanations } from '../../../src/effects/explain/memory.ts'
import { watchDatabase } from '../../support/cost/watch-database.ts'
import { admin, afterEach, api, createAccount, describe, env, expect, it, vi } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { type QueueSetup, run, runAndTake, setUpQueue } from '../../support/queue/queue.ts'
import { endpointStub } from '../../support/runner/stubs.ts'
import { until } from '../../support/time.ts'

let hosts: FakeHost[] = []
afterEach(() => {
  for (const host of hosts) host.leave()
  hosts = []
  vi.useRealTimers()
  vi.restoreAllMocks()
})

async function join(...given: Parameters<typeof FakeHost.join>): Promise<FakeHost> {
  const host = await FakeHost.join(...given)
  hosts.push(host)
  return host
}

const call = ({ account }: QueueSetup) => api(account.key)

async function explain(queue: QueueSetup): Promise<EndpointExplanation> {
  dropExplanations()
  const reply = await call(queue).get(`/v2/serverless/${queue.endpointId}/explain`)
  expect(reply.status).toBe(200)
  expect(EndpointExplanation.parse(reply.body)).toEqual(reply.body)
  return reply.body
}

async function explainJob(queue: QueueSetup, jobId: string): Promise<ExplainReply> {
  dropExplanations()
  const reply = await queue.get(`/explain/${jobId}`)
  expect(reply.status).toBe(200)
  return reply.body
}

const patch = (queue: QueueSetup, body: object) => call(queue).patch(`/v2/serverless/${queue.endpointId}`, body)

async function isThrottled(queue: QueueSetup): Promise<void> {
  await until(async () => (await queue.get('/health')).body.workers.throttled === 1)
}

/** An endpoint that waits for a GPU type that no host has, with a queued job. */
async function waiting(change: Record<string, unknown> = {}) {
  const queue = await setUpQueue({ gpu: { pools: ['HOPPER_141'] }, ...change })
  const jobId = await run(queue)
  await isThrottled(queue)
  return { queue, jobId }
}

/** Sends the call of an option unchanged. */
async function carryOut(queue: QueueSetup, { options }: Pick<EndpointExplanation, 'options'>, kind: string): Promise<void> {
  const option = options.find((one) => one.kind === kind)
  expect(option?.who).toBe('YOU')
  expect((await call(queue).patch(option?.call?.path ?? '', option?.call?.body)).status).toBe(200)
}

describe('[WHY-1] [WHY-10] why an endpoint has the workers that it has', () => {
  it('nothing waits; a worker starts; it works; it is idle and takes the next job', async () => {
    const queue = await setUpQueue()
    expect(await explain(queue)).toMatchObject({
      id: queue.endpointId,
      code: 'IDLE',
      verdict: 'No job waits, and the endpoint has no worker.',
      options: [],
    })
    const { jobId, worker } = await runAndTake(queue)
    expect(await explain(queue)).toMatchObject({ code: 'RUNNING', verdict: '1 worker busy, and no job waits.' })
    await worker.done(jobId, { output: 1 })
    expect(await explain(queue)).toMatchObject({ code: 'IDLE', verdict: 'No job waits, and 1 worker idle.' })
    await run(queue)
    expect((await explain(queue)).code).toBe('NEXT')
  })

  it('on its way, with the decision that started it', async () => {
    const queue = await setUpQueue()
    await run(queue)
    const received = await explain(queue)
    expect(received).toMatchObject({
      code: 'WORKER_STARTING',
      verdict: expect.stringMatching(/^1 job waiting, and a worker is/),
      options: [],
    })
    expect(received.evidence).toContainEqual(expect.objectContaining({ kind: 'QUEUE', count: 1 }))
    expect(received.evidence).toContainEqual(
      expect.objectContaining({ kind: 'SCALER', total: 1, text: expect.stringContaining('wants 1') }),
    )
  })

  it('[WHY-3] all busy at workers.max: one more is offered with its price, and the call starts it', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    const [second, third] = [await run(queue), await run(queue)]
    const received = await explain(queue)
    expect(received).toMatchObject({ code: 'AT_WORKERS_MAX', options: [{ kind: 'WORKERS_MAX', summary: 'raise workers.max from 1 to 2' }] })
    expect(received.options[0]?.priceDifference).toBe(received.options[0]?.pricePerHour)
    expect(await explainJob(queue, second)).toMatchObject({ code: 'WORKERS_BUSY', options: received.options })
    expect(await explainJob(queue, third)).toMatchObject({ code: 'BEHIND_OTHERS', options: received.options })
    await carryOut(queue, received, 'WORKERS_MAX')
    await until(async () => (await explain(queue)).code !== 'AT_WORKERS_MAX')
    expect(['SCALING_DELAY', 'WORKER_STARTING']).toContain((await explain(queue)).code)
    await worker.done(jobId, { output: 1 })
    expect(await explainJob(queue, jobId)).toMatchObject({ code: 'FINISHED', options: [] })
  })

  it('busy below workers.max: the policy has not requested another yet', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 3, idleTimeout: 60 }, scaling: { type: 'QUEUE_DELAY', queueDelay: 600 } })
    await runAndTake(queue)
    await run(queue)
    expect((await explain(queue)).code).toBe('SCALING_DELAY')
  })

  it('workers.max 0, and the call that ends that', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 0, idleTimeout: 5 } })
    const jobId = await run(queue)
    const received = await explain(queue)
    expect(received).toMatchObject({ code: 'SCALED_TO_ZERO_BY_CONFIG', options: [{ kind: 'WORKERS_MAX' }] })
    await carryOut(queue, received, 'WORKERS_MAX')
    const worker = await queue.host.startWorker(queue.endpointId)
    expect((await worker.take())?.id).toBe(jobId)
  })

  it('low priority jobs alone, and the call that starts a worker for them', async () => {
    const queue = await setUpQueue()
    const jobId = await run(queue, {}, { lowPriority: true })
    const received = await explainJob(queue, jobId)
    expect(received).toMatchObject({ code: 'LOW_PRIORITY', options: [{ kind: 'WORKERS_MIN' }] })
    expect((await explain(queue)).code).toBe('LOW_PRIORITY')
    await carryOut(queue, received, 'WORKERS_MIN')
    expect((await (await queue.host.startWorker(queue.endpointId)).take())?.id).toBe(jobId)
  })

  it('workers that crash are no lack of capacity, and more of them are not recommended', async () => {
    const queue = await setUpQueue()
    await run(queue)
    const worker = await queue.host.startWorker(queue.endpointId)
    await queue.host.report(worker.id, { state: 'exited', exitCode: 1, reason: 'exited with code 1' })
    const received = await explain(queue)
    expect(received).toMatchObject({ code: 'WORKERS_UNHEALTHY', verdict: expect.stringContaining('exited with code 1'), options: [] })
    expect(received.evidence).toContainEqual(expect.objectContaining({ kind: 'WORKERS', text: 'unhealthy', count: 1 }))
  })
})

describe('[WHY-2] [WHY-11] out of capacity', () => {
  it('shows how many hosts lack which resource and the time of the next try; the option is a call after which the job runs', async () => {
    const { queue, jobId } = await waiting()
    const machine = await join(gpus(1, 'NVIDIA L4'), { dataCenterId: 'EU-CZ-1' })
    const received = await explainJob(queue, jobId)
    expect(received).toMatchObject({ reason: 'NO_CAPACITY', code: 'NO_CAPACITY', sinceMs: expect.any(Number) })
    expect(received.evidence).toContainEqual({
      kind: 'CONSTRAINT',
      text: 'needs 1 free NVIDIA H200',
      count: expect.any(Number),
      total: expect.any(Number),
      at: null,
    })
    expect(received.evidence).toContainEqual(expect.objectContaining({ kind: 'RETRY', at: expect.stringMatching(/Z$/) }))
    const option = received.options.find(({ summary }) => summary.includes('ADA_24'))
    expect(option).toMatchObject({ kind: 'GPU_TYPE', call: { method: 'PATCH', path: `/v2/serverless/${queue.endpointId}` } })
    expect(option?.priceDifference).toBeLessThan(0)
    const { options, code } = await explain(queue)
    expect({ options, code }).toEqual({ options: received.options, code: 'NO_CAPACITY' })
    expect((await patch(queue, option?.call?.body ?? {})).status).toBe(200)
    const workers = [queue.host, machine].map((host) => host.startWorker(queue.endpointId))
    const worker = await Promise.race(workers)
    expect((await worker.take())?.id).toBe(jobId)
  })

  it('[WHY-7] two accounts that wait for the same type see nothing of one another', async () => {
    const [{ queue, jobId }, other] = [await waiting(), await waiting({ name: 'their-secret-name' })]
    for (const received of [await explainJob(queue, jobId), await explain(queue)]) {
      const text = JSON.stringify(received)
      for (const secret of [other.queue.endpointId, 'their-secret-name', other.queue.account.userId, queue.host.id])
        expect(text).not.toContain(secret)
    }
    expect((await api(other.queue.account.key).get(`/v2/serverless/${queue.endpointId}/explain`)).status).toBe(404)
    expect((await api((await createAccount()).key).get(`/v2/serverless/nosuch/explain`)).status).toBe(404)
  })

  it('[WHY-6] limits of the account are named in place of hosts', async () => {
    const queue = await setUpQueue()
    await call(queue).patch('/v2/billing/limits', { perHour: 0.01 })
    await run(queue)
    await isThrottled(queue)
    const limited = await explain(queue)
    expect(limited).toMatchObject({
      code: 'SPEND_LIMIT',
      options: [{ kind: 'SPEND_LIMIT', call: { method: 'PATCH', path: '/v2/billing/limits' } }],
    })
    await carryOut(queue, limited, 'SPEND_LIMIT')
    await queue.host.startWorker(queue.endpointId)
    const poor = await setUpQueue()
    await admin().put(`/admin/v1/users/${poor.account.userId}/budgets`, { gpus: 0 })
    await run(poor)
    await isThrottled(poor)
    expect(await explain(poor)).toMatchObject({ code: 'QUOTA', options: [{ kind: 'QUOTA', who: 'OPERATOR', call: null }] })
  })
})

describe('[WHY-9] the cost of the explanation of an endpoint', () => {
  it('is a limited number of queries, and one while it is polled', async () => {
    const { queue, jobId } = await waiting()
    await explain(queue)
    // The clock stands still, so that a reply stays cached however slow the machine is.
    vi.useFakeTimers({ toFake: ['Date'] })
    dropExplanations()
    const calls = watchDatabase()
    const statementsOf = async (path: string) => {
      calls.length = 0
      await call(queue).get(path)
      return calls.flat().length
    }
    const path = `/v2/serverless/${queue.endpointId}/explain`
    expect(await statementsOf(path)).toBeLessThanOrEqual(10)
    expect(await statementsOf(path)).toBe(1)
    expect(await statementsOf(`/v2/${queue.endpointId}/explain/${jobId}`)).toBeLessThanOrEqual(5)
    await endpointStub(env, queue.endpointId).queueFacts()
  })
})
