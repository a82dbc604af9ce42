import { describe, expect, it } from '../../../support/harness.ts'
import type { FakeWorker } from '../../../support/hosts/fake-host.ts'
import { advance, freezeClock, parkTake, type QueueSetup, run, runAndTake, setUpQueue } from '../../../support/queue/queue.ts'

/** Differences that the model test found between the rules and the object. */

const P = 10_000

/** One worker that holds two jobs, both confirmed. */
async function holdTwo(queue: QueueSetup): Promise<{ ids: [string, string]; worker: FakeWorker }> {
  const ids: [string, string] = [await run(queue), await run(queue)]
  const worker = await queue.host.startWorker(queue.endpointId)
  expect(await worker.takeBatch(2)).toHaveLength(2)
  await worker.ping(ids)
  return { ids, worker }
}

/** Two pings omit the first of two jobs, so the worker takes no more work and finishes the second. */
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
  it('[LSE-7, INV-25] takes and results are no pings: 4 P after the last ping it is given up', async () => {
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

  it('[LSE-7, LSE-35] a worker that still runs its last job loses it 4 P after its last ping, although a chunk came later', async () => {
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
  it('[LSE-8, WRK-29, LSE-36] a container that crashes during a job that it had started costs that job a retry', async () => {
    const queue = await setUpQueue()
    const { ids, worker } = await loseFirst(queue)
    await queue.host.report(worker.id, { state: 'exited', exitCode: 139 })
    expect(await record(queue, ids[1])).toMatchObject({ status: 'IN_QUEUE', retries: 1 })
  })

  it('[WRK-29, LSE-36] an assignment that crossed the drain costs none', async () => {
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

  it('[LSE-3] a take proves here too that the worker holds nothing', async () => {
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

describe('the cause of a loss', () => {
  /** Gives the job to one worker after another; each has confirmed it when `lose` ends its lease. */
  async function loseTo(queue: QueueSetup, jobId: string, times: number, lose: (worker: FakeWorker) => Promise<void>, past: string[]) {
    for (let i = 0; i < times; i++) {
      const worker = await queue.host.startWorker(queue.endpointId, past)
      past.push(worker.id)
      expect((await worker.take())?.id).toBe(jobId)
      await worker.ping([jobId])
      await lose(worker)
    }
  }

  const byHost = {
    state: 'exited',
    exitCode: 137,
    reason: 'killed by signal SIGKILL; the machine was restarted',
    endedByHost: true,
  } as const
  const byItself = { state: 'exited', exitCode: 137, reason: 'killed by signal SIGKILL' } as const

  it('[LSE-20, LSE-21] the end by its host costs no retry, however often; its own container may end once', async () => {
    const queue = await setUpQueue()
    await freezeClock(queue.endpointId)
    const jobId = await run(queue)
    const past: string[] = []
    await loseTo(queue, jobId, 5, (worker) => endWith(queue, worker, byHost), past)
    const waiting = await record(queue, jobId)
    expect([waiting.status, waiting.retries]).toEqual(['IN_QUEUE', undefined])
    await loseTo(queue, jobId, 1, (worker) => endWith(queue, worker, byItself), past)
    expect(await record(queue, jobId)).toMatchObject({ status: 'IN_QUEUE', retries: 1 })
    await loseTo(queue, jobId, 2, (worker) => endWith(queue, worker, byHost), past)
    expect(await record(queue, jobId)).toMatchObject({ status: 'IN_QUEUE', retries: 1 })
    await loseTo(queue, jobId, 1, (worker) => endWith(queue, worker, byItself), past)
    const end = { error: 'job timed out after 1 retries', errorDetail: 'killed by signal SIGKILL' }
    expect(await record(queue, jobId)).toMatchObject({ status: 'FAILED', ...end })
    const { attempts } = (await queue.get(`/timeline/${jobId}`)).body
    expect(attempts.map(({ reason }: { reason: string }) => reason).filter((reason: string) => reason === byHost.reason)).toHaveLength(7)
  })

  it('[LSE-20] a container whose end its host does not know was lost by the host', async () => {
    const queue = await setUpQueue()
    const jobId = await run(queue)
    await loseTo(queue, jobId, 3, (worker) => queue.host.report(worker.id, { state: 'gone' }), [])
    const waiting = await record(queue, jobId)
    expect([waiting.status, waiting.retries]).toEqual(['IN_QUEUE', undefined])
  })

  it('[LSE-22] twenty losses with its host fail a job, and `/retry` starts the count anew', async () => {
    const queue = await setUpQueue()
    await freezeClock(queue.endpointId)
    const jobId = await run(queue)
    const past: string[] = []
    await loseTo(queue, jobId, 20, (worker) => endWith(queue, worker, byHost), past)
    const failed = await record(queue, jobId)
    expect(failed).toMatchObject({ status: 'FAILED', error: 'the job was lost with its host 20 times', errorDetail: byHost.reason })
    expect(failed.retries).toBeUndefined()
    expect((await queue.post(`/retry/${jobId}`)).status).toBe(200)
    await loseTo(queue, jobId, 1, (worker) => endWith(queue, worker, byHost), past)
    expect(await record(queue, jobId)).toMatchObject({ status: 'IN_QUEUE' })
  })

  it('[LSE-23, LSE-7] the silence of a worker whose host sends heartbeats costs a retry', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.ping([jobId])
    await advance(queue.endpointId, 4 * P)
    expect(await record(queue, jobId)).toMatchObject({ status: 'IN_QUEUE', retries: 1 })
  })

  async function endWith(queue: QueueSetup, worker: FakeWorker, report: typeof byHost | typeof byItself): Promise<void> {
    await queue.host.report(worker.id, report)
    await queue.host.report(worker.id, { state: 'gone' })
  }
})
