import { describe } from 'vitest'
import type { ErrorView } from './support/endpoint.ts'
import type { Reply } from './support/http.ts'
import { expect, scenario } from './support/scenario.ts'

const UNKNOWN_JOB = '00000000-0000-4000-8000-000000000000-u1'
const JOB_READS = ['status', 'status-sync', 'stream']
/** LIM-2, bytes. */
const MAX_RUN_BYTES = 10 * 2 ** 20
/** RUN-7: with `workers.max` 0 a queue longer than this is full. */
const QUEUE_FLOOR = 50

function expectError(reply: Reply<unknown>, status: number, what: string): void {
  expect(reply.status, `${what}: ${reply.text}`).toBe(status)
  expect(reply.headers.get('content-type'), what).toMatch(/^application\/json\b/)
  expect(reply.body, what).toEqual(expect.objectContaining({ status, title: expect.any(String), detail: expect.any(String) }))
}

function expectSuccess(reply: Reply<unknown>, what: string): void {
  expect(reply.status, `${what}: ${reply.text}`).toBe(200)
  expect(reply.headers.get('content-type'), what).toMatch(/^application\/json\b/)
  expect(reply.body, what).toEqual(expect.any(Object))
}

describe('success', () => {
  scenario('[INV-1] API-2, API-3: every operation succeeds with exactly 200 and JSON', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const run = await endpoint.call('POST', 'run', { body: { input: {} } })
    expectSuccess(run, 'run')
    for (const read of JOB_READS) expectSuccess(await endpoint.call('GET', `${read}/${run.body.id}?wait=1000`), `${read} of a queued job`)
    await worker.done((await worker.takeJob()).id, { error: 'broke' })
    for (const read of JOB_READS) expectSuccess(await endpoint.call('GET', `${read}/${run.body.id}`), `${read} of a failed job`)
    expectSuccess(await endpoint.call('POST', `retry/${run.body.id}`), 'retry')
    expectSuccess(await endpoint.call('POST', `cancel/${run.body.id}`), 'cancel')
    expectSuccess(await endpoint.call('POST', 'purge-queue'), 'purge-queue')
    expectSuccess(await endpoint.call('GET', 'health'), 'health')
    const held = endpoint.call('POST', 'runsync', { body: { input: {} } })
    await worker.done((await worker.takeJob()).id, { output: 1 })
    expectSuccess(await held, 'runsync')
  })
})

describe('errors', () => {
  scenario('[INV-1] API-3, API-6: every refusal is JSON with its status as a number', {}, async (endpoint) => {
    const refusals: [number, string, Promise<Reply<unknown>>][] = [
      [400, 'no input', endpoint.call('POST', 'run', { body: {} })],
      [400, 'not JSON', endpoint.call('POST', 'runsync', { body: '{"input":' })],
      [400, 'ttl below 10 s', endpoint.call('POST', 'run', { body: { input: {}, policy: { ttl: 9_999 } } })],
      [400, 'ttl below 10 s in the query', endpoint.call('POST', 'run?ttl=9999', { body: { input: {} } })],
      [400, 'executionTimeout below 5 s', endpoint.call('POST', 'run', { body: { input: {}, policy: { executionTimeout: 4_999 } } })],
      [401, 'no key', endpoint.call('GET', 'health', { key: null })],
      [401, 'unknown key', endpoint.call('POST', 'run', { key: 'Bearer nobody', body: { input: {} } })],
      [404, 'unknown operation', endpoint.call('GET', 'no-such-operation')],
      [405, 'wrong method', endpoint.call('GET', 'run')],
      [413, 'body too large', endpoint.call('POST', 'run', { body: { input: { text: 'x'.repeat(MAX_RUN_BYTES) } } })],
    ]
    for (const read of JOB_READS) refusals.push([404, `${read} of an unknown job`, endpoint.call('GET', `${read}/${UNKNOWN_JOB}`)])
    for (const act of ['cancel', 'retry']) refusals.push([404, `${act} of an unknown job`, endpoint.call('POST', `${act}/${UNKNOWN_JOB}`)])
    for (const [status, what, reply] of refusals) expectError(await reply, status, what)
  })

  scenario('[INV-1] RUN-7, API-7: a full queue is 429 with whole seconds in Retry-After', { workers: 0 }, async (endpoint) => {
    for (let count = 0; count <= QUEUE_FLOOR; count += 1) await endpoint.run()
    const refused = await endpoint.call('POST', 'run', { body: { input: {} } })
    expectError(refused, 429, 'run')
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  })

  scenario('[INV-1] API-5: an endpoint of another tenant answers exactly as an unknown one', {}, async (endpoint, tenant) => {
    const job = await endpoint.run()
    await tenant.withForeignKey(async (apiKey) => {
      const key = `Bearer ${apiKey}`
      const url = endpoint.planeUrl
      for (const [method, path] of [
        ['GET', 'health'],
        ['GET', `status/${job}`],
        ['POST', `cancel/${job}`],
        ['POST', 'purge-queue'],
      ] as const) {
        const foreign = await endpoint.call<ErrorView>(method, path, { key })
        expectError(foreign, 404, `${path} of a foreign endpoint`)
        const unknown = await fetch(`${url}/v2/nosuchendpoint/${path}`, { method, headers: { authorization: key } })
        expect(await unknown.json(), path).toEqual(foreign.body)
      }
    })
    expect((await endpoint.status(job)).status).toBe('IN_QUEUE')
  })
})

describe('methods and bodies', () => {
  scenario(
    '[INV-4] API-1, API-10: status, status-sync and stream accept GET and POST, with any POST body',
    { workers: 1 },
    async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const job = await endpoint.run()
      const taken = await worker.takeJob()
      await worker.done(taken.id, { output: { answer: 42 } })
      for (const read of JOB_READS) {
        const wanted = await endpoint.call('GET', `${read}/${job}`)
        expect(wanted.status).toBe(200)
        for (const body of [undefined, '', '{}', '{"input":', '[1,2', 'a=b&c=d', 'x'.repeat(100_000)]) {
          const posted = await endpoint.call('POST', `${read}/${job}`, body === undefined ? {} : { body })
          expect({ status: posted.status, body: posted.body }, `${read} with ${body?.slice(0, 20)}`).toEqual({
            status: 200,
            body: wanted.body,
          })
        }
      }
    },
  )

  scenario('[INV-4] API-10: cancel, retry and purge-queue never parse a body', {}, async (endpoint) => {
    const job = await endpoint.run()
    expect((await endpoint.call('POST', `cancel/${job}`, { body: '{"broken' })).status).toBe(200)
    const retried = await endpoint.call<ErrorView>('POST', `retry/${job}`, { body: '{"broken' })
    expect(retried.body.detail).toContain('CANCELLED')
    expect((await endpoint.call('POST', 'purge-queue', { body: '{"broken' })).status).toBe(200)
  })
})

describe('keys', () => {
  scenario('[INV-5] API-4: a bare key is 401 on every client route', { workers: 1 }, async (endpoint) => {
    const job = await endpoint.run()
    const calls = [...JOB_READS.map((read) => ['GET', `${read}/${job}`]), ['POST', 'run'], ['POST', 'runsync'], ['GET', 'health']]
    const acts = [
      ['POST', `cancel/${job}`],
      ['POST', `retry/${job}`],
      ['POST', 'purge-queue'],
    ]
    for (const [method = '', operation = ''] of [...calls, ...acts]) {
      for (const key of [endpoint.apiKey, `Basic ${endpoint.apiKey}`, `Bearer ${endpoint.apiKey} x`, 'Bearer', null]) {
        const body = method === 'POST' ? { body: { input: {} } } : {}
        expectError(await endpoint.call(method, operation, { key, ...body }), 401, `${operation} with ${key?.slice(0, 6)}…`)
      }
    }
    expect((await endpoint.status(job)).status).toBe('IN_QUEUE')
  })

  scenario('[INV-5] WRK-2: the raw worker key is accepted on the worker routes, and on no others', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const job = await endpoint.run()
    expect((await worker.takeJob()).id).toBe(job)
    expect((await worker.ping()).status).toBe(200)
    expect((await worker.chunk(job, { output: 1 })).status).toBe(200)
    for (const key of [worker.key, `Bearer ${worker.key}`]) {
      expectError(await endpoint.call('GET', `status/${job}`, { key }), 401, 'status with a worker key')
      expectError(await endpoint.call('POST', `cancel/${job}`, { key }), 401, 'cancel with a worker key')
    }
    expect((await worker.done(job, { output: 1 })).status).toBe(200)
    expect((await endpoint.status(job)).status).toBe('COMPLETED')
  })

  scenario('[INV-5] WRK-2: a client key and the key of another worker are refused on worker routes', { workers: 2 }, async (endpoint) => {
    const [worker, other] = [await endpoint.nextWorker(), await endpoint.nextWorker()]
    const job = await endpoint.run()
    expect((await worker.takeJob()).id).toBe(job)
    for (const authorization of [endpoint.apiKey, `Bearer ${endpoint.apiKey}`, other.key, '']) {
      const reply = await worker.post('RUNPOD_WEBHOOK_POST_OUTPUT', job, { output: 'forged' }, false, { authorization })
      expectError(reply, 401, 'job-done')
    }
    expect((await endpoint.status(job)).status).toBe('IN_PROGRESS')
  })
})
