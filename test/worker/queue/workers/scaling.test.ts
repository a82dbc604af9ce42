import { MAX_DECISIONS } from '../../../../durable-objects/endpoint/store/decision-log.ts'
import { api, describe, env, evictDurableObject, expect, it, runInDurableObject } from '../../../support/harness.ts'
import { advance, freezeClock, parkTake, type QueueSetup, run, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'
import { until } from '../../../support/time.ts'

const health = async (queue: QueueSetup) => (await queue.get('/health')).body.workers
const count = async (queue: QueueSetup) => {
  const { initializing, running, idle } = await health(queue)
  return initializing + running + idle
}
const decisions = async (queue: QueueSetup) =>
  (await api(queue.account.key).get(`/v2/serverless/${queue.endpointId}/scaling`)).body.decisions

/** An endpoint with a busy worker and a frozen clock. */
async function setUpBusy(changes: Record<string, unknown>) {
  const queue = await setUpQueue(changes)
  await freezeClock(queue.endpointId)
  await run(queue)
  const worker = await queue.host.startWorker(queue.endpointId)
  const job = await worker.take()
  return { queue, worker, jobId: job?.id ?? '' }
}

describe('workers follow the load', () => {
  it('[SCALE-2, SCALE-11] the first worker comes at once, the next when a job has waited for the delay, by the alarm alone', async () => {
    const { queue, worker, jobId } = await setUpBusy({
      scaling: { type: 'QUEUE_DELAY', queueDelay: 4 },
      workers: { min: 0, max: 3, idleTimeout: 60 },
    })
    await run(queue)
    await run(queue)
    expect(await count(queue)).toBe(1)
    const due = await runInDurableObject(endpointStub(env, queue.endpointId), async (object, state) => {
      return ((await state.storage.getAlarm()) ?? Number.POSITIVE_INFINITY) - object.core.now()
    })
    expect(due, 'somebody looks when the delay passes').toBeLessThanOrEqual(4_000)
    await worker.ping([jobId])
    await advance(queue.endpointId, 3_999)
    expect(await count(queue)).toBe(1)
    await advance(queue.endpointId, 1)
    expect(await count(queue)).toBe(3)
    expect((await decisions(queue))[0]).toMatchObject({
      desired: 3,
      current: 1,
      started: 2,
      stopped: 0,
      reason: '2 jobs waiting for 4 s or longer, 0 workers free or starting',
      inputs: { scaler: 'QUEUE_DELAY', queued: 2, running: 1, longestWaitMs: 4_000, workersBusy: 1 },
    })
  })

  it('[SCALE-3] by request count the workers follow the number of jobs, and end after the idle period', async () => {
    const { queue, worker, jobId } = await setUpBusy({ scaling: { type: 'REQUEST_COUNT', requestCount: 2 }, workers: { min: 0, max: 3 } })
    await run(queue)
    expect(await count(queue)).toBe(1)
    const third = await run(queue)
    expect(await count(queue)).toBe(2)
    await queue.post('/purge-queue')
    await worker.done(jobId, { output: 1 })
    expect((await queue.get(`/status/${third}`)).body.status).toBe('CANCELLED')
    await advance(queue.endpointId, 4_999)
    expect((await health(queue)).idle).toBe(1)
    await advance(queue.endpointId, 1)
    await queue.host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
  })

  it('[SCALE-4, INV-33] low priority jobs start no worker, and run on an existing one', async () => {
    const { queue, worker, jobId } = await setUpBusy({ workers: { min: 0, max: 3, idleTimeout: 60 } })
    const low = await run(queue, {}, { lowPriority: true })
    await worker.ping([jobId])
    await advance(queue.endpointId, 30_000)
    expect(await count(queue)).toBe(1)
    await worker.done(jobId, { output: 1 })
    expect((await worker.take())?.id).toBe(low)
  })

  it('[SCALE-13] a normal job does not wait for a low priority one that occupies the only worker', async () => {
    const queue = await setUpQueue({ workers: { min: 1, max: 2, idleTimeout: 60 } })
    await freezeClock(queue.endpointId)
    const worker = await queue.host.startWorker(queue.endpointId)
    const [taken] = await parkTake(queue, worker)
    await run(queue, {}, { lowPriority: true })
    expect(await taken).not.toBeNull()
    const normal = await run(queue)
    const second = await queue.host.startWorker(queue.endpointId, [worker.id])
    expect((await second.take())?.id).toBe(normal)
  })

  it('[SCALE-5, SCALE-12] a load that swings faster than the idle timeout starts and stops no further workers', async () => {
    const { queue, worker, jobId } = await setUpBusy({ workers: { min: 0, max: 3, idleTimeout: 10 } })
    await worker.done(jobId, { output: 1 })
    for (let swing = 0; swing < 5; swing++) {
      await advance(queue.endpointId, 9_000)
      await worker.ping()
      const id = await run(queue)
      expect((await worker.take())?.id).toBe(id)
      await worker.done(id, { output: swing })
    }
    expect(await decisions(queue)).toHaveLength(1)
    expect(await count(queue)).toBe(1)
  })

  it('[SCALE-6] a busy worker of an older release gets no further job, even if it takes', async () => {
    const { queue, worker, jobId } = await setUpBusy({ workers: { min: 0, max: 2, idleTimeout: 60 } })
    const asking = worker.take({ jobInProgress: '1' })
    const stub = endpointStub(env, queue.endpointId)
    await until(() => runInDurableObject(stub, (object) => object.core.parking.openTakes().length === 1))
    await api(queue.account.key).patch(`/v2/serverless/${queue.endpointId}`, { image: 'builtin/probe' })
    const next = await run(queue)
    const fresh = await queue.host.startWorker(queue.endpointId, [worker.id])
    expect((await fresh.take())?.id).toBe(next)
    await worker.done(jobId, { output: 1 })
    expect(await asking).toBeNull()
  })

  it('[END-12, SCALE-6] bounds apply at once; a new release replaces idle workers at once and busy ones after their job', async () => {
    const { queue, worker, jobId } = await setUpBusy({ workers: { min: 1, max: 2, idleTimeout: 60 } })
    const patch = (body: unknown) => api(queue.account.key).patch(`/v2/serverless/${queue.endpointId}`, body)
    expect((await patch({ workers: { min: 2 } })).status).toBe(200)
    const idle = await queue.host.startWorker(queue.endpointId, [worker.id])
    await parkTake(queue, idle)
    expect((await patch({ env: { A: '2' } })).status).toBe(200)
    await queue.host.waitFor((w) => w.id === idle.id && w.desired === 'stopped')
    expect(queue.host.desired().find((w) => w.id === worker.id)?.desired).toBe('running')
    await queue.host.startWorker(queue.endpointId, [worker.id, idle.id])
    await worker.done(jobId, { output: 'finished' })
    await queue.host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
    expect((await queue.get(`/status/${jobId}`)).body.output).toBe('finished')
  })
})

describe('[SCALE-16] the decision log', () => {
  it('keeps only the last decisions, in order, over a restart of the object', async () => {
    const queue = await setUpQueue({ scaling: { type: 'REQUEST_COUNT', requestCount: 1 }, workers: { min: 0, max: 1 } })
    await runInDurableObject(endpointStub(env, queue.endpointId), (object) => {
      for (let i = 0; i < MAX_DECISIONS + 5; i++) {
        const inputs = {
          policy: { type: 'REQUEST_COUNT', requestCount: 1 },
          queued: i,
          waitingSinceMs: [],
          workers: [],
          held: new Map(),
        } as const
        const bounds = { heldNormal: new Map(), min: 0, max: 1_000, idleTimeoutMs: 0, version: 1, launchNotBeforeMs: 0, nowMs: i }
        object.core.state.decisions.note(
          { desired: i, current: 0, start: 0, stop: [], reason: 'r', nextAtMs: null },
          { ...inputs, ...bounds },
        )
      }
    })
    await evictDurableObject(endpointStub(env, queue.endpointId))
    const kept = await decisions(queue)
    expect(kept).toHaveLength(MAX_DECISIONS)
    expect([kept[0].desired, kept.at(-1).desired]).toEqual([MAX_DECISIONS + 4, 5])
  })

  it('contains the reason why a start was held back and why workers ended', async () => {
    const { queue, worker } = await setUpBusy({ workers: { min: 0, max: 1, idleTimeout: 5 } })
    await queue.host.report(worker.id, { state: 'exited', exitCode: 1, reason: 'exited with code 1' })
    await queue.host.report(worker.id, { state: 'gone' })
    expect((await queue.get('/health')).body.jobs.inQueue).toBe(1)
    await advance(queue.endpointId, 1_000)
    const second = await queue.host.startWorker(queue.endpointId, [worker.id])
    const job = await second.take()
    await second.done(job?.id ?? '', { output: 1 })
    await advance(queue.endpointId, 5_000)
    await until(async () => (await count(queue)) === 0)
    const log = await decisions(queue)
    expect(log.map((d: { started: number; stopped: number; reason: string }) => [d.started, d.stopped, d.reason])).toEqual([
      [0, 1, 'idle for 5 s'],
      [1, 0, 'a job waits and no worker is available'],
      [1, 0, 'a job waits and no worker is available'],
    ])
  })
})
