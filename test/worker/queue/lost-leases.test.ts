import type { FakeWorker } from '../../support/fake-host.ts'
import { describe, expect, it } from '../../support/harness.ts'
import { advance, parkTake, type QueueSetup, run, runAndTake, setUpQueue } from '../../support/queue.ts'

/** Differences that the model test found between the rules and what the object did. */

const P = 10_000

/** One worker that holds two jobs, both confirmed. */
async function holdTwo(queue: QueueSetup): Promise<{ ids: [string, string]; worker: FakeWorker }> {
  const ids: [string, string] = [await run(queue), await run(queue)]
  const worker = await queue.host.startWorker(queue.endpointId)
  expect(await worker.takeBatch(2)).toHaveLength(2)
  await worker.ping(ids)
  return { ids, worker }
}

/** The first of two jobs is missed by two pings, so its worker gets no more work and finishes the second. */
async function loseFirst(queue: QueueSetup): Promise<{ ids: [string, string]; worker: FakeWorker }> {
  const { ids, worker } = await holdTwo(queue)
  await worker.ping([ids[1]])
  await worker.ping([ids[1]])
  return { ids, worker }
}

async function record(queue: QueueSetup, jobId: string) {
  return (await queue.get(`/status/${jobId}`)).body
}

describe('a silent worker', () => {
  it('[LSE-7, INV-25] takes and results are no pings: 4 P after the last one it is given up', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.ping([jobId])
    await advance(queue.endpointId, 2 * P)
    await worker.done(jobId, { output: 1 })
    const [open] = await parkTake(queue, worker)
    await advance(queue.endpointId, 2 * P - 5_000)
    expect((await queue.get('/health')).body.workers).toMatchObject({ idle: 1, unhealthy: 0 })
    await advance(queue.endpointId, 5_000)
    expect((await queue.get('/health')).body.workers).toMatchObject({ idle: 0, unhealthy: 1 })
    expect(await open).toBeNull()
  })

  it('[LSE-7, PP-16] one that finishes its last job and falls silent loses it then, although a chunk came later than its last ping', async () => {
    const queue = await setUpQueue()
    const { ids, worker } = await loseFirst(queue)
    await advance(queue.endpointId, 3 * P)
    await worker.stream(ids[1], { output: 'chunk' })
    await advance(queue.endpointId, P)
    expect(await record(queue, ids[1])).toMatchObject({ status: 'IN_QUEUE', retries: 1 })
  })

  it('[TMO-2, LSE-7] a job whose own time is over when its worker is given up has failed; it does not run again', async () => {
    const queue = await setUpQueue()
    const ids = [await run(queue, {}, { executionTimeout: 600_000 }), await run(queue, {}, { executionTimeout: 4 * P + 5_000 })]
    const worker = await queue.host.startWorker(queue.endpointId)
    expect(await worker.takeBatch(2)).toHaveLength(2)
    await worker.ping(ids)
    await advance(queue.endpointId, 4 * P + 8_000)
    expect(await record(queue, ids[0] ?? '')).toMatchObject({ status: 'IN_QUEUE', retries: 1 })
    expect(await record(queue, ids[1] ?? '')).toMatchObject({ status: 'FAILED', error: 'executionTimeout exceeded' })
  })
})

describe('a draining worker', () => {
  it('[LSE-8, WRK-29, PP-19] a container that crashes over a job it had begun costs that job a retry', async () => {
    const queue = await setUpQueue()
    const { ids, worker } = await loseFirst(queue)
    await queue.host.report(worker.id, { state: 'exited', exitCode: 139 })
    expect(await record(queue, ids[1])).toMatchObject({ status: 'IN_QUEUE', retries: 1 })
  })

  it('[WRK-29, PP-19] an assignment that crossed the drain costs none', async () => {
    const queue = await setUpQueue()
    const ids = [await run(queue), await run(queue)]
    const worker = await queue.host.startWorker(queue.endpointId)
    expect(await worker.takeBatch(2)).toHaveLength(2)
    await worker.done(ids[0] ?? '', { output: 1, stopPod: true })
    await queue.host.report(worker.id, { state: 'exited', exitCode: 0 })
    const requeued = await record(queue, ids[1] ?? '')
    expect(requeued.status).toBe('IN_QUEUE')
    expect(requeued.retries).toBeUndefined()
  })

  it('[LSE-3] asking for work shows here too that it holds nothing', async () => {
    const queue = await setUpQueue()
    const { ids, worker } = await loseFirst(queue)
    expect(await worker.take()).toBeNull()
    await advance(queue.endpointId, 2_000)
    expect(await record(queue, ids[1])).toMatchObject({ status: 'IN_QUEUE', retries: 1 })
  })
})

it('[LSE-5] the second ping in a row that misses a job gives it to the next worker in the same commit', async () => {
  const queue = await setUpQueue({ workers: { min: 2, max: 2, idleTimeout: 60 } })
  const holder = await queue.host.startWorker(queue.endpointId)
  const other = await queue.host.startWorker(queue.endpointId, [holder.id])
  const jobId = await run(queue)
  expect((await holder.take())?.id).toBe(jobId)
  const [open] = await parkTake(queue, other)
  await holder.ping([jobId])
  await holder.ping([])
  await holder.ping([])
  expect((await open)?.id).toBe(jobId)
})
