import { enterInFlight, inFlightUse, mayDrain } from '../../../../src/effects/in-flight.ts'
import { admin, api, describe, env, expect, it, send, teamOf } from '../../../support/harness.ts'
import type { FakeWorker } from '../../../support/hosts/fake-host.ts'
import { advance, inside, type QueueSetup, run, runAndTake, setUpQueue } from '../../../support/queue/queue.ts'
import { until } from '../../../support/time.ts'

const MIB = 2 ** 20
const PIECE_BYTES = 64 * 1024

interface Sent {
  status: number
  readBytes: number
}

/** A post of a worker whose sender sees how much of it is read; its length is announced only if `bytes` is given. */
async function post(worker: FakeWorker, template: string, jobId: string, bytes: number): Promise<Sent> {
  let readBytes = 0
  const piece = new TextEncoder().encode(' '.repeat(PIECE_BYTES))
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (readBytes >= bytes) return controller.close()
        readBytes += PIECE_BYTES
        controller.enqueue(piece)
      },
    },
    { highWaterMark: 0 },
  )
  const headers = { Authorization: worker.token, 'Content-Length': String(bytes) }
  const reply = await send(worker.url(template, jobId), { method: 'POST', headers, body })
  await reply.arrayBuffer()
  return { status: reply.status, readBytes }
}

const RESULT = 'RUNPOD_WEBHOOK_POST_OUTPUT'
const CHUNK = 'RUNPOD_WEBHOOK_POST_STREAM'
const status = async (queue: QueueSetup, jobId: string) => (await queue.get(`/status/${jobId}`)).body
const setBudgets = (queue: QueueSetup, budgets: Record<string, number>) =>
  admin().put(`/admin/v1/users/${queue.account.userId}/budgets`, budgets)
const budget = async (queue: QueueSetup, name: string) => (await api(queue.account.key).get('/v2/account/limits')).body[name]
const superseded = (queue: QueueSetup) => inside(queue, ({ core }) => core.state.meta.totals().superseded)
/**
 * Uses up the bytes that may be read of refused bodies (they are read so that senders receive the reason); later bodies are not read at
 * all.
 */
const drainNoMore = async (queue: QueueSetup) => expect(mayDrain(await teamOf(queue.account), 64 * MIB, Date.now())).toBe(true)

async function endWorker(queue: QueueSetup, worker: FakeWorker): Promise<void> {
  await queue.host.report(worker.id, { state: 'gone' })
  await until(() => inside(queue, ({ core }) => (core.state.workers.get(worker.id)?.phase ?? 'FAILED') === 'FAILED'))
}

describe('a post of a worker', () => {
  it('[WRK-48] is not read when its worker is gone and its job is over or unknown', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, { output: 1 })
    await endWorker(queue, worker)
    const before = await status(queue, jobId)
    await drainNoMore(queue)
    for (const [template, job] of [
      [RESULT, jobId],
      [CHUNK, jobId],
      [RESULT, 'nosuchjob'],
    ] as const) {
      const sent = await post(worker, template, job, 8 * MIB)
      expect(sent).toEqual({ status: 200, readBytes: expect.any(Number) })
      expect(sent.readBytes).toBeLessThanOrEqual(MIB)
    }
    expect(await status(queue, jobId)).toEqual(before)
    expect((await inFlightUse(env, await teamOf(queue.account), Date.now())).used).toBe(0)
  })

  it('[WRK-48] is not read from another boot of the worker that holds the job, and counts as superseded', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await drainNoMore(queue)
    expect((await post(worker.withBoot('another'), RESULT, jobId, 8 * MIB)).readBytes).toBeLessThanOrEqual(MIB)
    expect([await superseded(queue), (await status(queue, jobId)).status]).toEqual([1, 'IN_PROGRESS'])
    await worker.done(jobId, { output: 'mine' })
    expect((await status(queue, jobId)).output).toBe('mine')
  })

  it('[WRK-48, LSE-11] is read to its end as the late result of a worker that is gone, a large one too', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await endWorker(queue, worker)
    expect((await status(queue, jobId)).status).toBe('IN_QUEUE')
    const output = 'x'.repeat(300_000)
    expect(await worker.done(jobId, { output })).toBe(200)
    expect(await status(queue, jobId)).toMatchObject({ status: 'COMPLETED', output })
  })

  it('[WRK-48, DER-40] is read from a suspended account only as the one result of a job that was requeued', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await admin().post(`/admin/v1/users/${queue.account.userId}/suspend`, {})
    await drainNoMore(queue)
    expect((await post(worker, CHUNK, jobId, 900_000)).readBytes).toBeLessThanOrEqual(PIECE_BYTES * 2)
    expect(await worker.done(jobId, { output: 'late' })).toBe(200)
    expect((await post(worker, RESULT, jobId, 8 * MIB)).readBytes).toBeLessThanOrEqual(MIB)
    await admin().post(`/admin/v1/users/${queue.account.userId}/resume`, {})
    expect(await status(queue, jobId)).toMatchObject({ status: 'COMPLETED', output: 'late' })
  })

  it('[WRK-48] shares the bytes in progress of the account of its endpoint, and waits for room', async () => {
    const [queue, other] = [await setUpQueue(), await setUpQueue()]
    const { jobId, worker } = await runAndTake(queue)
    const bystander = await runAndTake(other)
    await setBudgets(queue, { inFlightBytes: 2 * MIB })
    enterInFlight(await teamOf(queue.account), MIB, Date.now())
    const output = 'x'.repeat(1.5 * MIB)
    const before = await status(queue, jobId)
    const sent = await send(worker.url(RESULT, jobId), {
      method: 'POST',
      headers: { Authorization: worker.token, 'Content-Length': String(output.length + 13) },
      body: JSON.stringify({ output }),
    })
    expect([sent.status, sent.headers.get('retry-after'), await sent.json()]).toEqual([
      503,
      '1',
      expect.objectContaining({ detail: expect.stringMatching(/^the account's budget inFlightBytes .* is 2097152: 1048576 are in use/) }),
    ])
    expect(await status(queue, jobId)).toEqual(before)
    expect(await bystander.worker.done(bystander.jobId, { output })).toBe(200)
    await setBudgets(queue, { inFlightBytes: 8 * MIB })
    expect(await worker.done(jobId, { output })).toBe(200)
    expect((await status(queue, jobId)).output).toBe(output)
  })

  it('[REST-20] of unknown length counts by the bytes read: small ones are accepted at the same time, large ones wait for room', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await setBudgets(queue, { inFlightBytes: 3 * MIB })
    const chunked = async (template: string, text: string) => {
      const headers = { Authorization: worker.token, 'Transfer-Encoding': 'chunked' }
      const sent = await send(worker.url(template, jobId), { method: 'POST', headers, body: new Response(text).body })
      await sent.arrayBuffer()
      return sent.status
    }
    const chunks = await Promise.all(Array.from({ length: 20 }, (_, n) => chunked(CHUNK, JSON.stringify({ output: n }))))
    expect(chunks).toEqual(chunks.map(() => 200))
    enterInFlight(await teamOf(queue.account), 2 * MIB, Date.now())
    const output = 'x'.repeat(1.5 * MIB)
    expect(await chunked(RESULT, JSON.stringify({ output }))).toBe(503)
    expect((await status(queue, jobId)).status).toBe('IN_PROGRESS')
    await setBudgets(queue, { inFlightBytes: 8 * MIB })
    expect(await chunked(RESULT, JSON.stringify({ output }))).toBe(200)
    expect((await status(queue, jobId)).output).toBe(output)
  })

  it('[WRK-48, LIM-3] fails its job, unread, when it is larger than the maximum, and names the limit', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 1, idleTimeout: 60 } })
    const first = await runAndTake(queue)
    await drainNoMore(queue)
    expect((await post(first.worker, RESULT, first.jobId, 30 * MIB)).readBytes).toBeLessThanOrEqual(MIB)
    expect(await status(queue, first.jobId)).toMatchObject({
      status: 'FAILED',
      error: 'the result is larger than the limit of 20971520 bytes',
    })
    const second = await run(queue)
    expect((await first.worker.take())?.id).toBe(second)
    await setBudgets(queue, { inFlightBytes: MIB })
    expect(await first.worker.done(second, { output: 'x'.repeat(2 * MIB) })).toBe(200)
    expect(await status(queue, second)).toMatchObject({
      status: 'FAILED',
      error: expect.stringMatching(/^the account's budget inFlightBytes .* is 1048576: 0 are in use and the request needs 2097165 more/),
    })
  })
})

describe('room for posts of workers', () => {
  const output = 'x'.repeat(3 * MIB)

  it("[WRK-49] counts in the account's budget: a result without room fails its job with both numbers, until results expire", async () => {
    const queue = await setUpQueue()
    await setBudgets(queue, { queuedBytes: 5 * MIB })
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, { output })
    expect((await status(queue, jobId)).status).toBe('COMPLETED')
    const [second, small] = [await run(queue, { n: 2 }), await run(queue, { n: 3 })]
    expect((await worker.take())?.id).toBe(second)
    expect(await worker.done(second, { output })).toBe(200)
    expect(await status(queue, second)).toMatchObject({
      status: 'FAILED',
      error: expect.stringMatching(
        /^the result could not be stored: the account's budget queuedBytes .* is 5242880: \d+ are in use and the request needs 34\d{5} more/,
      ),
    })
    expect((await status(queue, second)).output).toBeUndefined()
    // A result that is not longer than a job's own rows is always stored.
    expect((await worker.take())?.id).toBe(small)
    await worker.done(small, { output: 'y'.repeat(1000) })
    expect((await status(queue, small)).status).toBe('COMPLETED')
    const { used, bound } = await budget(queue, 'queuedBytes')
    expect(used).toBeLessThanOrEqual(bound)
    await advance(queue.endpointId, 86_400_000)
    expect((await budget(queue, 'queuedBytes')).used).toBe(0)
    const later = await run(queue)
    const next = await queue.host.startWorker(queue.endpointId, [worker.id])
    expect((await next.take())?.id).toBe(later)
    await next.done(later, { output })
    expect((await status(queue, later)).status).toBe('COMPLETED')
  })

  it('[WRK-49] fails the job of a chunk without room with both numbers, and its worker gets a stop', async () => {
    const queue = await setUpQueue()
    await setBudgets(queue, { queuedBytes: 5 * MIB })
    const { jobId, worker } = await runAndTake(queue)
    const chunk = 'x'.repeat(900_000)
    for (let sent = 0; sent < 10; sent += 1) expect(await worker.stream(jobId, { output: chunk })).toBe(200)
    expect(await status(queue, jobId)).toMatchObject({
      status: 'FAILED',
      error: expect.stringMatching(/^the account's budget queuedBytes .* is 5242880: \d+ are in use and the request needs \d+ more/),
    })
    expect(await worker.stopPoll()).toEqual([jobId])
  })

  it('[WRK-49] is not needed for a result no longer than the input that it replaces', async () => {
    const queue = await setUpQueue()
    await setBudgets(queue, { queuedBytes: 0 })
    const { jobId, worker } = await runAndTake(queue, { text: 'i'.repeat(3 * MIB) })
    expect(await worker.done(jobId, { output: 'o'.repeat(2 * MIB) })).toBe(200)
    expect((await status(queue, jobId)).status).toBe('COMPLETED')
  })
})
