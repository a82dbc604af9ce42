import { describe, expect, it } from '../../../support/harness.ts'
import { advance, type QueueSetup, runAndTake, setUpQueue } from '../../../support/queue/queue.ts'

/** Posts that arrive twice or late, because a host retains undelivered posts. */

const P = 10_000
const SESSION = 'session-of-an-agent'
/** Larger than a body that the Worker passes to the object as plain data. */
const LARGE = 'x'.repeat(100_000)

async function record(queue: QueueSetup, jobId: string) {
  return (await queue.get(`/status/${jobId}`)).body
}

async function readStream(queue: QueueSetup, jobId: string): Promise<unknown[]> {
  const reply = await queue.get(`/stream/${jobId}?wait=1000`)
  return reply.body.stream.map((item: { output: unknown }) => item.output)
}

/** The worker's lease ends in silence, and another worker takes the job. */
async function rerun(queue: QueueSetup) {
  const { jobId, worker: first } = await runAndTake(queue)
  await first.ping([jobId])
  await first.withDelivery(`${SESSION}.1`).stream(jobId, { output: 'of the first' })
  await advance(queue.endpointId, 4 * P)
  // The backoff after a failed worker.
  await advance(queue.endpointId, 1_000)
  const second = await queue.host.startWorker(queue.endpointId, [first.id])
  expect((await second.take())?.id).toBe(jobId)
  return { jobId, first, second }
}

describe('a post that comes twice', () => {
  it('[HOST-22] as a chunk is answered 200 and changes nothing, and the next one follows', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    const post = (number: number, output: string) => worker.withDelivery(`${SESSION}.${number}`).stream(jobId, { output })
    expect([await post(3, 'a'), await post(3, 'a'), await post(5, 'b'), await post(3, 'a')]).toEqual([200, 200, 200, 200])
    expect(await readStream(queue, jobId)).toEqual(['a', 'b'])
  })

  it('[HOST-22] equal chunks are no repeats if they come from a worker without a relay, or from two agent processes', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    for (const sender of [worker, worker, worker.withDelivery(`${SESSION}.3`), worker.withDelivery('another-session.3')]) {
      await sender.stream(jobId, { output: 'same' })
    }
    expect(await readStream(queue, jobId)).toEqual(['same', 'same', 'same', 'same'])
  })

  it('[HOST-22] renews no lease', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    const relayed = worker.withDelivery(`${SESSION}.1`)
    await relayed.stream(jobId, { output: 'a' })
    await advance(queue.endpointId, 3 * P)
    await relayed.stream(jobId, { output: 'a' })
    await advance(queue.endpointId, P)
    expect(await record(queue, jobId)).toMatchObject({ status: 'IN_QUEUE', retries: 1 })
  })

  for (const [kind, text] of [
    ['small', 'x'],
    ['large', LARGE],
  ] as const) {
    it(`[HOST-22] an older progress update does not replace a newer one, and a repeated result (${kind}) counts once`, async () => {
      const queue = await setUpQueue()
      const { jobId, worker } = await runAndTake(queue)
      const post = (number: number, body: unknown) => worker.withDelivery(`${SESSION}.${number}`).done(jobId, body)
      const progress = (step: number) => ({ status: 'IN_PROGRESS', output: { step, text } })
      await post(1, progress(1))
      await post(2, progress(2))
      expect(await post(1, progress(1))).toBe(200)
      expect((await record(queue, jobId)).output.step).toBe(2)
      expect([await post(3, { output: text }), await post(3, { output: text })]).toEqual([200, 200])
      expect(await record(queue, jobId)).toMatchObject({ status: 'COMPLETED', output: text })
      expect((await queue.get('/health')).body.jobs).toMatchObject({ completed: 1, failed: 0, inQueue: 0, inProgress: 0 })
    })
  }

  it('[HOST-22, CTL-2] as a failure does not end the retry of its job', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    const relayed = worker.withDelivery(`${SESSION}.1`)
    await relayed.done(jobId, { error: 'boom' })
    expect((await queue.post(`/retry/${jobId}`)).status).toBe(200)
    expect(await relayed.done(jobId, { error: 'boom' })).toBe(200)
    expect((await record(queue, jobId)).status).toBe('IN_QUEUE')
  })
})

describe('a post that comes late', () => {
  it('[HOST-23, LSE-10] from a lost lease changes nothing once the job runs again', async () => {
    const queue = await setUpQueue()
    const { jobId, first, second } = await rerun(queue)
    expect(await first.withDelivery(`${SESSION}.2`).stream(jobId, { output: 'late' })).toBe(200)
    expect(await first.withDelivery(`${SESSION}.3`).done(jobId, { output: 'late' })).toBe(200)
    expect(await record(queue, jobId)).toMatchObject({ status: 'IN_PROGRESS', workerId: second.id })
    // The sequence numbers of the same agent continue for the current attempt.
    await second.withDelivery(`${SESSION}.4`).stream(jobId, { output: 'of the second' })
    expect(await readStream(queue, jobId)).toEqual(['of the second'])
    await second.withDelivery(`${SESSION}.5`).done(jobId, { output: 'right' })
    expect(await record(queue, jobId)).toMatchObject({ status: 'COMPLETED', output: 'right', retries: 1 })
    expect((await queue.get('/health')).body.jobs).toMatchObject({ completed: 1, failed: 0 })
  })

  it('[HOST-23, LSE-11] as a result is accepted before the job runs again, and as a chunk is not', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.ping([jobId])
    await advance(queue.endpointId, 4 * P)
    expect(await worker.withDelivery(`${SESSION}.1`).stream(jobId, { output: 'late' })).toBe(200)
    expect((await record(queue, jobId)).status).toBe('IN_QUEUE')
    expect(await worker.withDelivery(`${SESSION}.2`).done(jobId, { output: 'late' })).toBe(200)
    expect(await record(queue, jobId)).toMatchObject({ status: 'COMPLETED', output: 'late' })
  })

  it('[HOST-23] for a job that is over or unknown is answered 200', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await queue.post(`/cancel/${jobId}`)
    expect(await worker.withDelivery(`${SESSION}.1`).done(jobId, { output: 'late' })).toBe(200)
    expect(await worker.withDelivery(`${SESSION}.2`).done('no-such-job', { output: 'late' })).toBe(200)
    expect((await record(queue, jobId)).status).toBe('CANCELLED')
  })
})
