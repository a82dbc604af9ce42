import { describe, expect, it } from '../../../support/harness.ts'
import { advance, freezeClock, run, setUpQueue } from '../../../support/queue/queue.ts'

const POISON = 4
const CRASH = { state: 'exited', exitCode: 1, reason: null } as const

describe('a job that ends its worker', () => {
  it('[LSE-31, LSE-8] fails after its attempts; the good job behind four of them waits for no pause', async () => {
    const queue = await setUpQueue()
    // The clock stands still: a pause between two starts would never end.
    await freezeClock(queue.endpointId)
    const poison = []
    for (let i = 0; i < POISON; i++) poison.push(await run(queue, { poison: i }))
    const good = await run(queue, { good: true })
    const past: string[] = []
    for (const jobId of poison.flatMap((id) => [id, id])) {
      const worker = await queue.host.startWorker(queue.endpointId, past)
      expect((await worker.take())?.id).toBe(jobId)
      await queue.host.report(worker.id, CRASH)
      await queue.host.report(worker.id, { state: 'gone' })
      past.push(worker.id)
    }
    const last = await queue.host.startWorker(queue.endpointId, past)
    expect((await last.take())?.id).toBe(good)
    await last.done(good, { output: 'ok' })

    const error = { error: 'job timed out after 1 retries', errorDetail: 'the container exited with code 1', retries: 1 }
    for (const id of poison) expect((await queue.get(`/status/${id}`)).body).toMatchObject({ status: 'FAILED', ...error })
    const record = (await queue.get(`/status/${good}`)).body
    expect([record.status, record.output, record.retries]).toEqual(['COMPLETED', 'ok', undefined])
  })

  it('[LSE-31] delays starts while no worker takes a job, until one does', async () => {
    const queue = await setUpQueue()
    await freezeClock(queue.endpointId)
    await run(queue)
    const past: string[] = []
    for (const pauseMs of [1_000, 2_000]) {
      const worker = await queue.host.startWorker(queue.endpointId, past)
      await queue.host.report(worker.id, CRASH)
      await queue.host.report(worker.id, { state: 'gone' })
      past.push(worker.id)
      await advance(queue.endpointId, pauseMs - 1)
      expect((await queue.get('/health')).body.workers.initializing).toBe(0)
      await advance(queue.endpointId, 1)
    }
    const worker = await queue.host.startWorker(queue.endpointId, past)
    expect(await worker.take()).not.toBeNull()
    await queue.host.report(worker.id, CRASH)
    await queue.host.report(worker.id, { state: 'gone' })
    // No pause, neither for this worker nor for earlier failures.
    const next = await queue.host.startWorker(queue.endpointId, [...past, worker.id])
    expect(await next.take()).not.toBeNull()
  })
})

describe('a reply that never reached its worker', () => {
  it('[LSE-30] costs neither a retry nor the worker: another worker runs the job, or this one makes room', async () => {
    const queue = await setUpQueue()
    await freezeClock(queue.endpointId)
    const first = await run(queue)
    const worker = await queue.host.startWorker(queue.endpointId)
    // The reply is lost on the way: the worker does not have the job, and its host takes again.
    expect((await worker.take())?.id).toBe(first)
    const second = await run(queue)
    expect((await worker.takeAgain())?.id).toBe(second)
    await advance(queue.endpointId, 2_000)
    await worker.done(second, { output: 2 })
    expect((await queue.get(`/status/${second}`)).body).toMatchObject({ status: 'COMPLETED', output: 2 })
    expect((await queue.get(`/status/${first}`)).body.status).toBe('IN_QUEUE')
    // LSE-9: this worker may not take that job again, and no other worker is there.
    expect(await worker.take()).toBeNull()
    const other = await queue.host.startWorker(queue.endpointId, [worker.id])
    expect((await other.take())?.id).toBe(first)
    await other.done(first, { output: 1 })
    const record = (await queue.get(`/status/${first}`)).body
    expect([record.status, record.output, record.retries]).toEqual(['COMPLETED', 1, undefined])
  })
})
