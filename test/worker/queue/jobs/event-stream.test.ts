import { ENDPOINT_SCHEMA } from '../../../../durable-objects/endpoint/store/schema.ts'
import { applySchema } from '../../../../durable-objects/sql-migrations.ts'
import { describe, env, expect, it, runInDurableObject, send } from '../../../support/harness.ts'
import { EventReader } from '../../../support/http/event-reader.ts'
import { advance, type QueueSetup, run, runAndTake, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'
import { until } from '../../../support/time.ts'

const chunk = (id: number, output: unknown) => `id: ${id}\ndata: ${JSON.stringify({ output })}\n\n`

async function openEvents(queue: QueueSetup, jobId: string, query = '', headers: Record<string, string> = {}): Promise<EventReader> {
  const response = await send(`/v2/${queue.endpointId}/stream/${jobId}${query}`, {
    headers: { Authorization: `Bearer ${queue.account.key}`, Accept: 'text/event-stream', ...headers },
  })
  return new EventReader(response)
}

/** The status record of the closing event. */
function endOf(text: string): unknown {
  const match = /event: end\ndata: (.*)\n\n$/.exec(text)
  return JSON.parse(match?.[1] ?? 'null')
}

describe('/stream as events', () => {
  it('[STR-10] sends each chunk as it comes, numbered from 1, and ends with the record', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.stream(jobId, { output: 'a' })
    const reader = await openEvents(queue, jobId)
    await reader.until((text) => text === chunk(1, 'a'))
    await worker.stream(jobId, { output: { b: '\n' } })
    await reader.until((text) => text === chunk(1, 'a') + chunk(2, { b: '\n' }))
    await worker.done(jobId, { output: [] }, true)
    const text = await reader.rest()
    expect(text.startsWith(`${chunk(1, 'a')}${chunk(2, { b: '\n' })}event: end\ndata: {`)).toBe(true)
    expect(endOf(text)).toEqual((await queue.get(`/status/${jobId}`)).body)
  })

  it('[STR-10] does not drain: any number of readers receive everything, and so does a poll', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.stream(jobId, { output: 1 })
    await worker.stream(jobId, { output: 2 })
    await worker.done(jobId, { output: [] }, true)
    const readers = [await openEvents(queue, jobId), await openEvents(queue, jobId)]
    for (const reader of readers) expect((await reader.rest()).startsWith(chunk(1, 1) + chunk(2, 2))).toBe(true)
    expect((await queue.get(`/stream/${jobId}`)).body.stream).toEqual([{ output: 1 }, { output: 2 }])
  })

  it('[STR-4, STR-21] sends chunks that no poll has taken, under their own numbers', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.stream(jobId, { output: 1 })
    await queue.get(`/stream/${jobId}`)
    await worker.stream(jobId, { output: 2 })
    await worker.done(jobId, { output: [] }, true)
    expect((await (await openEvents(queue, jobId)).rest()).startsWith(chunk(2, 2))).toBe(true)
  })

  it('[STR-10, STR-21] resumes after the last event that the client has seen', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    for (const n of [1, 2, 3]) await worker.stream(jobId, { output: n })
    await worker.done(jobId, { output: [] }, true)
    const from = async (query: string, headers?: Record<string, string>) => {
      const text = await (await openEvents(queue, jobId, query, headers)).rest()
      return [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]))
    }
    expect(await from('?from=0')).toEqual([1, 2, 3])
    expect(await from('?from=1')).toEqual([2, 3])
    expect(await from('?from=3')).toEqual([])
    expect(await from('', { 'Last-Event-ID': '2' })).toEqual([3])
    expect(await from('?from=1', { 'Last-Event-ID': '2' })).toEqual([3])
    expect((await queue.get(`/stream/${jobId}?from=junk`)).status).toBe(400)
  })

  it('[STR-10, LSE-12] numbers continue in the next attempt; unread chunks of the lost one are dropped', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    const reader = await openEvents(queue, jobId)
    await worker.stream(jobId, { output: 'first' })
    await reader.until((text) => text.endsWith(chunk(1, 'first')))
    await queue.host.report(worker.id, { state: 'exited', exitCode: 1, reason: 'crash' })
    await advance(queue.endpointId, 1_000)
    const second = await queue.host.startWorker(queue.endpointId, [worker.id])
    expect((await second.take())?.id).toBe(jobId)
    await second.stream(jobId, { output: 'again' })
    await second.done(jobId, { output: [] }, true)
    const text = await reader.rest()
    expect(text.startsWith(chunk(1, 'first') + chunk(2, 'again'))).toBe(true)
    expect(endOf(text)).toMatchObject({ status: 'COMPLETED', retries: 1 })
  })

  it('[STR-9, STR-10] ends with the record of a failed job, also when it ended before', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, { error: 'boom' }, true)
    expect(endOf(await (await openEvents(queue, jobId)).rest())).toMatchObject({ id: jobId, status: 'FAILED', error: 'boom' })
  })

  it('[JOB-9] reports a job whose ttl ends as TIMED_OUT', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 0, idleTimeout: 5 } })
    const jobId = await run(queue, {}, { ttl: 10_000 })
    const reader = await openEvents(queue, jobId)
    await advance(queue.endpointId, 10_001)
    expect(endOf(await reader.rest())).toMatchObject({ id: jobId, status: 'TIMED_OUT' })
    expect((await queue.get(`/stream/${jobId}`)).status).toBe(404)
  })

  it('[JOB-9] reports a running job that its ttl has ended', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue, {}, { ttl: 10_000 })
    const reader = await openEvents(queue, jobId)
    await advance(queue.endpointId, 10_001)
    expect(endOf(await reader.rest())).toMatchObject({ id: jobId, status: 'TIMED_OUT', workerId: worker.id })
  })

  it('[STR-10] sends comments during silence, and a reader that leaves changes nothing', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    const stub = endpointStub(env, queue.endpointId)
    await runInDurableObject(stub, (object) => {
      object.core.pace.keepaliveMs = 20
    })
    const reader = await openEvents(queue, jobId)
    await reader.until((text) => text.startsWith(': ping\n\n: ping\n\n'))
    await reader.leave()
    const waiting = () => runInDurableObject(stub, (object) => object.core.parking.waitingJobs)
    await until(async () => (await waiting()) === 0)
    await worker.done(jobId, { output: 1 })
    expect((await queue.get(`/status/${jobId}`)).body.status).toBe('COMPLETED')
  })

  it('[STR-10, LOG-1] instructs proxies to pass events on at once', async () => {
    const queue = await setUpQueue()
    const jobId = await run(queue, {})
    const reply = await send(`/v2/${queue.endpointId}/stream/${jobId}`, {
      headers: { Authorization: `Bearer ${queue.account.key}`, Accept: 'text/event-stream' },
    })
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    })
    await reply.body?.cancel()
  })

  it('[JOB-8, API-10] an unknown job is a JSON 404; a poll without the header is JSON as before', async () => {
    const queue = await setUpQueue()
    const { jobId } = await runAndTake(queue)
    const reply = await send(`/v2/${queue.endpointId}/stream/nosuchjob`, {
      headers: { Authorization: `Bearer ${queue.account.key}`, Accept: 'text/event-stream' },
    })
    expect([reply.status, reply.headers.get('content-type')]).toEqual([404, 'application/json'])
    expect((await queue.get(`/stream/${jobId}?wait=1000`)).body).toEqual({ status: 'IN_PROGRESS', stream: [] })
  })
})

it('[STR-10] chunks stored before they were numbered are numbered by the schema step', async () => {
  await runInDurableObject(endpointStub(env, 'with-chunks-of-an-earlier-release'), (_object, { storage }) => {
    const { sql } = storage
    applySchema(storage, ENDPOINT_SCHEMA.slice(0, 1))
    const job = 'INSERT INTO jobs (seq, id, state, low, order_key, created_at, ttl_at, execution_timeout_ms, retention_ms, due_at) VALUES'
    sql.exec(`${job} (1, 'a', 1, 0, 1, 0, 0, 0, 0, 0), (2, 'b', 1, 0, 2, 0, 0, 0, 0, 0), (3, 'c', 1, 0, 3, 0, 0, 0, 0, 0)`)
    sql.exec("INSERT INTO chunks (n, job, bytes, data) VALUES (4, 1, 1, 'x'), (5, 2, 1, 'y'), (9, 1, 1, 'z')")
    applySchema(storage, ENDPOINT_SCHEMA)
    expect(sql.exec('SELECT job, number, data FROM chunks ORDER BY job, number').toArray()).toEqual([
      { job: 1, number: 1, data: 'x' },
      { job: 1, number: 2, data: 'z' },
      { job: 2, number: 1, data: 'y' },
    ])
    expect(sql.exec('SELECT chunks FROM jobs ORDER BY seq').toArray()).toEqual([{ chunks: 2 }, { chunks: 1 }, { chunks: 0 }])
  })
})
