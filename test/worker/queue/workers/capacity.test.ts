import { announceCapacity } from '../../../../src/effects/capacity.ts'
import { admin, api, env, expect, it, runInDurableObject } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { advance, freezeClock, type QueueSetup, run, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'
import { until } from '../../../support/time.ts'

// Every test has its own GPU type, so that hosts of one test do not affect others.

const gpus = (typeId: string, count: number) => ({
  gpus: [{ typeId, count, memoryMb: 24_576, driverVersion: null, cudaVersion: '12.8', simulated: true }],
})
const health = async (queue: QueueSetup) => (await queue.get('/health')).body.workers
const isThrottled = async (queue: QueueSetup) => (await health(queue)).throttled === 1
const isPlaced = async (queue: QueueSetup) => (await health(queue)).throttled === 0 && (await health(queue)).initializing === 1
const attemptsOf = (queue: QueueSetup) =>
  runInDurableObject(endpointStub(env, queue.endpointId), (object) =>
    object.core.state.workers.all().reduce((sum, w) => sum + ('attempts' in w ? w.attempts : 0), 0),
  )
const waiters = async (...queues: QueueSetup[]) => {
  const { results } = await env.DB.prepare('SELECT endpoint_id AS id FROM capacity_waiters ORDER BY since, endpoint_id').all<{
    id: string
  }>()
  return results.map(({ id }) => queues.findIndex((queue) => queue.endpointId === id)).filter((index) => index >= 0)
}

/** An endpoint with a job whose worker found no host. */
async function setUpWaiter(pool: string): Promise<QueueSetup> {
  const queue = await setUpQueue({ gpu: { pools: [pool] }, workers: { min: 0, max: 1, idleTimeout: 5 } })
  await freezeClock(queue.endpointId)
  await run(queue)
  await until(() => isThrottled(queue))
  return queue
}

it('[SCALE-15] of two endpoints that want one place, the one that waited gets it when the other frees it, without a retry of its own', async () => {
  const host = await FakeHost.join(gpus('NVIDIA B200', 1))
  const first = await setUpQueue({ gpu: { pools: ['BLACKWELL_180'] }, workers: { min: 0, max: 1, idleTimeout: 5 } })
  const jobId = await run(first)
  const worker = await host.startWorker(first.endpointId)
  const second = await setUpWaiter('BLACKWELL_180')
  expect(await attemptsOf(second)).toBe(1)
  expect(await waiters(first, second)).toEqual([1])

  await worker.take()
  await worker.done(jobId, { output: 1 })
  await advance(first.endpointId, 5_001)
  await host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
  await host.report(worker.id, { state: 'gone' })
  const next = await host.startWorker(second.endpointId)
  expect((await next.take())?.id).toBeDefined()
  await until(async () => (await waiters(first, second)).length === 0)
})

it('[SCALE-15] a host that comes online is filled by waiting endpoints, the longest waiting first', async () => {
  const queues = [await setUpWaiter('HOPPER_141'), await setUpWaiter('HOPPER_141'), await setUpWaiter('HOPPER_141')]
  expect(await waiters(...queues)).toEqual([0, 1, 2])
  const host = await FakeHost.join(gpus('NVIDIA H200', 2))
  await host.startWorker(queues[0]?.endpointId ?? '')
  await host.startWorker(queues[1]?.endpointId ?? '')
  await until(async () => (await waiters(...queues)).length === 1)
  expect(await waiters(...queues)).toEqual([2])
  expect(await Promise.all(queues.map(isThrottled))).toEqual([false, false, true])
})

it('[SCALE-15] one capacity message makes at most eight endpoints retry, however many wait', async () => {
  // The GPU gets the wanted type directly in the database, so that exactly one capacity message is sent.
  const host = await FakeHost.join(gpus('NVIDIA A30', 1))
  const queues: QueueSetup[] = []
  for (let i = 0; i < 11; i++) queues.push(await setUpWaiter('ADA_80_PRO'))
  const other = await setUpWaiter('BLACKWELL_96')
  const before = await Promise.all(queues.map(attemptsOf))
  expect(before).toEqual(queues.map(() => 1))
  await env.DB.prepare("UPDATE host_gpus SET gpu_type_id = 'NVIDIA H100 NVL' WHERE host_id = ?").bind(host.id).run()
  await announceCapacity(env, host.id)
  const after = await Promise.all(queues.map(attemptsOf))
  expect(after).toEqual([0, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1])
  expect(await isPlaced(queues[0] as QueueSetup)).toBe(true)
  expect(await attemptsOf(other), 'one that could not use it is not told').toBe(1)
})

it('[SCALE-15] room for several workers of one endpoint is filled by one message, worker after worker', async () => {
  const queue = await setUpQueue({ gpu: { pools: ['AMPERE_16'] }, workers: { min: 3, max: 3, idleTimeout: 5 } })
  await freezeClock(queue.endpointId)
  await until(async () => (await health(queue)).throttled === 3)
  await FakeHost.join(gpus('NVIDIA RTX A4000', 2))
  await until(async () => (await health(queue)).initializing === 2)
  expect(await health(queue)).toMatchObject({ initializing: 2, throttled: 1 })
  expect(await waiters(queue), 'it goes on waiting for the third').toEqual([0])
})

it('[SCALE-15] an endpoint that needs no more capacity leaves the list', async () => {
  const [idle, deleted] = [await setUpWaiter('AMPERE_80'), await setUpWaiter('AMPERE_80')]
  expect(await waiters(idle, deleted)).toEqual([0, 1])
  await idle.post('/purge-queue')
  await advance(idle.endpointId, 5_001)
  await until(async () => (await waiters(idle)).length === 0)
  await api(deleted.account.key).delete(`/v2/serverless/${deleted.endpointId}`)
  await until(async () => (await waiters(deleted)).length === 0)
  expect(await waiters(idle, deleted)).toEqual([])
})

it('[SCALE-15] a worker that is given up during its placement leaves no row behind', async () => {
  const queue = await setUpWaiter('AMPERE_80')
  await runInDurableObject(endpointStub(env, queue.endpointId), async (object) => {
    const { core } = object
    // The row of the waiting worker is written after the worker was given up and its endpoint has left the list.
    const noteLate = (statement: D1PreparedStatement): D1PreparedStatement =>
      new Proxy(statement, {
        get: (target, name: 'bind' | 'run') =>
          name === 'bind'
            ? (...values: unknown[]) => noteLate(target.bind(...values))
            : async () => {
                await until(async () => !core.state.meta.waitsForCapacity())
                return target.run()
              },
      })
    const prepare = (sql: string) => (/^insert into "capacity_waiters"/.test(sql) ? noteLate(env.DB.prepare(sql)) : env.DB.prepare(sql))
    const late = new Proxy(env.DB, { get: (db, name) => (name === 'prepare' ? prepare : Reflect.get(db, name).bind(db)) })
    Object.assign(core, { env: { ...core.env, DB: late } })
    const looking = object.capacityAppeared()
    await object.destroy()
    await looking
  })
  await until(async () => (await waiters(queue)).length === 0)
})

it('[SCALE-15] a row that is no longer needed is dropped at the next message', async () => {
  const queue = await setUpQueue({ gpu: { pools: ['ADA_32_PRO'] } })
  await env.DB.prepare('INSERT INTO capacity_waiters (endpoint_id, since) VALUES (?, 1)').bind(queue.endpointId).run()
  await FakeHost.join(gpus('NVIDIA GeForce RTX 5090', 1))
  await until(async () => (await waiters(queue)).length === 0)
})

it('[SCALE-15] a message that arrives during a placement makes the worker try again', async () => {
  const queue = await setUpWaiter('AMPERE_48')
  const stub = endpointStub(env, queue.endpointId)
  const outcome = await runInDurableObject(stub, async (object) => {
    const first = object.capacityAppeared()
    const second = object.capacityAppeared()
    return Promise.all([first, second])
  })
  expect(outcome).toEqual([true, true])
  await until(async () => (await attemptsOf(queue)) >= 3)
})

it('[SCALE-14] without a message a worker tries again by itself, after 5 s, then 10 s', async () => {
  const queue = await setUpWaiter('ADA_48_PRO')
  await advance(queue.endpointId, 4_999)
  expect(await attemptsOf(queue)).toBe(1)
  await advance(queue.endpointId, 1)
  await until(async () => (await attemptsOf(queue)) === 2)
  await advance(queue.endpointId, 9_999)
  expect(await attemptsOf(queue)).toBe(2)
  await advance(queue.endpointId, 1)
  await until(async () => (await attemptsOf(queue)) === 3)
})

it('the removal of an offline host sends no capacity message, because its capacity is not usable', async () => {
  const host = await FakeHost.join(gpus('NVIDIA RTX A5000', 1))
  await env.DB.prepare("UPDATE hosts SET status = 'OFFLINE' WHERE id = ?").bind(host.id).run()
  const queue = await setUpWaiter('AMPERE_24')
  await announceCapacity(env, host.id)
  expect(await attemptsOf(queue)).toBe(1)
  expect((await admin().delete(`/admin/v1/hosts/${host.id}`)).status).toBe(204)
})
