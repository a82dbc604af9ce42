import {
  createAccount,
  createEndpoint,
  createKey,
  describe,
  env,
  expect,
  it,
  runInDurableObject,
  send,
  vi,
} from '../../../support/harness.ts'
import type { FakeWorker } from '../../../support/hosts/fake-host.ts'
import { EventReader } from '../../../support/http/event-reader.ts'
import { advance, type QueueSetup, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'
import { until } from '../../../support/time.ts'

const CHAT = '/openai/v1/chat/completions'
const ASK = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
const frame = (content: string) => `data: {"choices":[{"delta":{"content":"${content}"}}]}\n\n`
const DONE = 'data: [DONE]\n\n'

describe('a call that waits for its answer', () => {
  it('[OAI-1, OAI-4] becomes a job with the body unchanged, and its unwrapped output is the reply', async () => {
    const queue = await setUpQueue()
    const reply = queue.post(CHAT, '{"model":"m", "seed": 12345678901234567890}')
    const worker = await queue.host.startWorker(queue.endpointId)
    const taken = await (await worker.takeRaw()).text()
    const { id } = JSON.parse(taken) as { id: string }
    expect(id).toMatch(/^sync-/)
    expect(taken).toBe(
      `{"id":"${id}","input":{"openai_route":"/v1/chat/completions","openai_input":{"model":"m", "seed": 12345678901234567890}}}`,
    )
    await worker.done(id, { output: [{ id: 'chatcmpl-1', object: 'chat.completion' }] })
    expect(await reply).toMatchObject({ status: 200, body: { id: 'chatcmpl-1', object: 'chat.completion' } })
    expect((await reply).headers.get('content-type')).toBe('application/json')
    expect((await queue.get(`/status/${id}`)).body).toMatchObject({ id, status: 'COMPLETED' })
  })

  it('[OAI-2, OAI-3] a GET, its query and any other method reach the worker', async () => {
    const queue = await setUpQueue()
    const models = queue.get('/openai/v1/models?limit=5')
    const worker = await queue.host.startWorker(queue.endpointId)
    expect(await answerNext(worker, { output: [{ object: 'list', data: [] }] })).toEqual({ openai_route: '/v1/models?limit=5' })
    expect((await models).body).toEqual({ object: 'list', data: [] })
    const deleted = call(queue, '/openai/v1/models/m', { method: 'DELETE' })
    expect(await answerNext(worker, { output: { deleted: true } })).toEqual({ openai_route: '/v1/models/m', openai_method: 'DELETE' })
    expect(await (await deleted).json()).toEqual({ deleted: true })
  })

  it('[OAI-15] a route with encoded slashes only is the same route; beside plain ones they belong to a name', async () => {
    const queue = await setUpQueue()
    const replies = [queue.get('/openai/v1%2Fchat%2fcompletions?limit=5')]
    const worker = await queue.host.startWorker(queue.endpointId)
    expect(await answerNext(worker, { output: {} })).toEqual({ openai_route: '/v1/chat/completions?limit=5' })
    replies.push(queue.get('/openai/v1/models/meta%2Fllama'))
    expect(await answerNext(worker, { output: {} })).toEqual({ openai_route: '/v1/models/meta%2Fllama' })
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200])
  })

  it('[OAI-4] a reply that was streamed without a request for it is found in its chunks', async () => {
    const queue = await setUpQueue()
    const reply = queue.post(CHAT, ASK)
    const { worker, id } = await takeNext(queue)
    await worker.stream(id, { output: { object: 'chat.completion' } })
    await worker.done(id, { output: [] }, true)
    expect((await reply).body).toEqual({ object: 'chat.completion' })
  })

  it('[OAI-4] a reply in more chunks than one read returns is complete', async () => {
    const queue = await setUpQueue()
    const reply = queue.post(CHAT, ASK)
    const { worker, id } = await takeNext(queue)
    const output = 'x'.repeat(500_000)
    for (let n = 0; n < 10; n++) await worker.stream(id, { output })
    await worker.done(id, { output: [] }, true)
    expect((await reply).body).toEqual(Array(10).fill(output))
  })

  it('[OAI-4, LIM-3] a reply whose chunks exceed the limit of a result is an error, not a part of it', async () => {
    const queue = await setUpQueue()
    const reply = queue.post(CHAT, ASK)
    const { worker, id } = await takeNext(queue)
    const output = 'x'.repeat(599_000)
    for (let n = 0; n < 36; n++) await worker.stream(id, { output })
    await worker.done(id, { output: [] }, true)
    expect([(await reply).status, (await reply).body.detail]).toEqual([500, 'the response is larger than the limit of 20971520 bytes'])
  })

  it('[OAI-7, OAI-13] a failure has the status that the worker names, in the members of both APIs', async () => {
    const queue = await setUpQueue()
    const reply = queue.post(CHAT, ASK)
    const { worker, id } = await takeNext(queue)
    await worker.done(id, { error: "{'message': 'no such model', 'type': 'NotFoundError', 'param': None, 'code': 404}" }, true)
    expect(await reply).toMatchObject({
      status: 404,
      body: {
        error: { message: 'no such model', type: 'NotFoundError', code: null },
        title: 'Not Found',
        status: 404,
        detail: 'no such model',
      },
    })
    expect((await reply).headers.get('x-should-retry')).toBe('false')
  })

  it('[OAI-7, OAI-13] an exception is 500, an error returned as the output is that error', async () => {
    const queue = await setUpQueue()
    const raised = queue.post(CHAT, ASK)
    const { worker, id } = await takeNext(queue)
    await worker.done(id, { error: JSON.stringify({ error_message: 'boom', error_traceback: 'secret.py' }) })
    expect(await raised).toMatchObject({ status: 500, body: { error: { message: 'boom', type: 'server_error' } } })
    expect(JSON.stringify((await raised).body)).not.toContain('secret.py')
    const returned = queue.post(CHAT, ASK)
    await answerNext(worker, { output: [{ object: 'error', message: 'bad', type: 'BadRequestError', code: 400 }] })
    expect(await returned).toMatchObject({ status: 400, body: { error: { message: 'bad', type: 'BadRequestError' } } })
    const busy = queue.post(CHAT, ASK)
    await answerNext(worker, { error: '{"message":"all slots taken","code":503}' })
    expect((await busy).status).toBe(503)
    expect((await busy).headers.get('x-should-retry')).toBeNull()
  })

  it('[OAI-12] a job that is cancelled is 410, one whose hour is over 504', async () => {
    const queue = await setUpQueue()
    const cancelled = queue.post(CHAT, ASK)
    const { id } = await takeNext(queue)
    await queue.post(`/cancel/${id}`)
    expect(await cancelled).toMatchObject({ status: 410, body: { error: { message: 'the job was cancelled' } } })
    const dropped = queue.post(CHAT, ASK)
    await jobsOf(queue, 2)
    await advance(queue.endpointId, 3_600_000 - 60_000)
    expect((await jobsOf(queue, 1))[0]?.status).toBe('IN_QUEUE')
    await advance(queue.endpointId, 60_001)
    expect((await dropped).status).toBe(504)
  })

  it('[OAI-8] a client that disconnects cancels the job', async () => {
    const queue = await setUpQueue()
    const client = new AbortController()
    const reply = call(queue, CHAT, { method: 'POST', body: JSON.stringify(ASK), signal: client.signal }).catch(() => 'gone')
    const { id, worker } = await takeNext(queue)
    const stop = worker.stopPoll()
    client.abort()
    expect(await reply).toBe('gone')
    expect(await stop).toEqual([id])
    expect((await queue.get(`/status/${id}`)).body.status).toBe('CANCELLED')
  })
})

describe('a streamed reply', () => {
  it("[OAI-5] is the worker's own text, with [DONE] added when the worker left it out", async () => {
    const queue = await setUpQueue()
    const { reader, worker, id } = await openStream(queue, 'data: {"cho')
    await worker.stream(id, { output: `ices":[]}\n\n${frame('a')}` })
    await reader.until((text) => text.includes('"a"'))
    await worker.stream(id, { output: [{ n: 1 }, { n: 2 }] })
    await worker.done(id, { output: ['not', 'again'] }, true)
    expect(await reader.rest()).toBe(`data: {"choices":[]}\n\n${frame('a')}data: {"n":1}\n\ndata: {"n":2}\n\n${DONE}`)
  })

  it('[OAI-5] gets no second [DONE]', async () => {
    const queue = await setUpQueue()
    const { reader, worker, id } = await openStream(queue, `${frame('a')}data: [DO`)
    await worker.stream(id, { output: 'NE]\n\n' })
    await worker.done(id, { output: [] }, true)
    expect(await reader.rest()).toBe(`${frame('a')}${DONE}`)
  })

  it('[OAI-5] of a worker that did not stream is its whole output, as events', async () => {
    const queue = await setUpQueue()
    const response = callStream(queue)
    const worker = await queue.host.startWorker(queue.endpointId)
    await answerNext(worker, { output: [frame('a'), { b: 1 }] })
    expect(await new EventReader(await response).rest()).toBe(`${frame('a')}data: {"b":1}\n\n${DONE}`)
  })

  it('[OAI-6] is kept alive by comments while it is queued and while the worker computes, between events only', async () => {
    const queue = await setUpQueue()
    await shortenKeepalive(queue)
    const reader = new EventReader(await callStream(queue))
    expect(await reader.until((text) => text.split('\n\n').length > 2)).toBe(': ping\n\n: ping\n\n')
    const { worker, id } = await takeNext(queue)
    await worker.stream(id, { output: 'data: {"a' })
    const pings = (await reader.until((text) => text.includes('{"a'))).length
    await pollsAgain(queue)
    await worker.stream(id, { output: '":1}\n\n' })
    expect((await reader.until((text) => text.includes(':1'))).slice(pings)).toBe('":1}\n\n')
    await reader.until((text) => text.endsWith(': ping\n\n'))
    await worker.done(id, { output: [] }, true)
    expect(await reader.rest()).toBe(`data: {"a":1}\n\n${DONE}`)
  })

  it('[OAI-7] is an HTTP error if it fails before its first text', async () => {
    const queue = await setUpQueue()
    const response = callStream(queue)
    const worker = await queue.host.startWorker(queue.endpointId)
    await answerNext(worker, { error: '{"message":"too long","code":400}' })
    expect((await response).status).toBe(400)
    expect(await (await response).json()).toMatchObject({ error: { message: 'too long', type: 'invalid_request_error' } })
  })

  it('[OAI-7] ends with one error event and no [DONE] if it fails later', async () => {
    const queue = await setUpQueue()
    const { reader, worker, id } = await openStream(queue, 'data: {"a')
    await worker.done(id, { error: 'out of memory' }, true)
    expect(await reader.rest()).toBe('data: {"a\n\ndata: {"error":{"message":"out of memory","type":"server_error","code":null}}\n\n')
  })

  it('[OAI-14] is broken off, not started again, when its worker is lost after its first text', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 1, idleTimeout: 60 } })
    const { reader, worker, id } = await openStream(queue, frame('a'))
    await queue.host.report(worker.id, { state: 'exited', exitCode: 1, reason: 'crash' })
    expect(await reader.rest()).toBe(
      `${frame('a')}data: {"error":{"message":"the worker was lost in the middle of its response","type":"server_error","code":null}}\n\n`,
    )
    expect((await queue.get(`/status/${id}`)).body.status).toBe('CANCELLED')
  })

  it('[OAI-8] stops the job when its reader leaves', async () => {
    const queue = await setUpQueue()
    const { reader, worker, id } = await openStream(queue, frame('a'))
    const stop = worker.stopPoll()
    await reader.leave()
    expect(await stop).toEqual([id])
    expect((await queue.get(`/status/${id}`)).body.status).toBe('CANCELLED')
  })

  it('[OAI-14] lets the job end when its reader leaves after [DONE]', async () => {
    const queue = await setUpQueue()
    const { reader, worker, id } = await openStream(queue, `${frame('a')}${DONE}`)
    await reader.leave()
    await worker.done(id, { output: [] }, true)
    expect((await queue.get(`/status/${id}`)).body.status).toBe('COMPLETED')
  })

  it('leaves no waiting connection behind, however it ends', async () => {
    const queue = await setUpQueue()
    const first = await openStream(queue, frame('a'))
    await first.worker.done(first.id, { output: [] }, true)
    await first.reader.rest()
    const response = callStream(queue)
    const job = await first.worker.take()
    await first.worker.stream(job?.id ?? '', { output: frame('b') })
    await new EventReader(await response).leave()
    await vanished(queue)
  })

  it('[OAI-6] is complete for a slow reader, and read parts are not retained', async () => {
    const queue = await setUpQueue()
    const { reader, worker, id } = await openStream(queue, frame('0'))
    const big = 'x'.repeat(300_000)
    for (let n = 1; n <= 20; n++) await worker.stream(id, { output: frame(`${n}${big}`) })
    // Unread data waits in rows of the database, not in memory.
    expect(await storedChunks(queue)).toBeGreaterThan(15)
    await worker.done(id, { output: [] }, true)
    const text = await reader.rest()
    expect(
      text
        .split('\n\n')
        .map((part) => /"content":"(\d+)/.exec(part)?.[1])
        .filter(Boolean),
    ).toEqual(Array.from({ length: 21 }, (_, n) => String(n)))
    expect(text.endsWith(DONE)).toBe(true)
    expect(await storedChunks(queue)).toBe(0)
    expect((await queue.get(`/stream/${id}`)).body).toEqual({ status: 'COMPLETED', stream: [] })
  })
})

it('[OAI-6] is read in small portions for a slow reader far behind: hundreds of readers may hold one each', async () => {
  const queue = await setUpQueue()
  const { reader, worker, id } = await openStream(queue, frame('0'))
  const big = 'x'.repeat(300_000)
  for (let n = 1; n <= 20; n++) await worker.stream(id, { output: frame(`${n}${big}`) })
  const before = await storedChunks(queue)
  await reader.until((text) => text.includes(`"2${big}"`))
  expect(before - (await storedChunks(queue))).toBeLessThan(6)
})

describe('refusals', () => {
  it('[OAI-11] a body that is no JSON object is 400, in the members of both APIs, and makes no job', async () => {
    const queue = await setUpQueue()
    for (const body of ['[]', '"x"', 'a=b', '{']) {
      const { status, body: reply } = await queue.post(CHAT, body)
      expect(status, body).toBe(400)
      expect(reply).toEqual({
        error: { message: expect.stringMatching(/^\$: /), type: 'invalid_request_error', code: null },
        title: 'Bad Request',
        status: 400,
        detail: reply.error.message,
      })
    }
    expect((await queue.get('/requests')).body.requests).toEqual([])
  })

  it('[LIM-2, OAI-11] a body above the limit of /runsync is 413, also without a declared length', async () => {
    const queue = await setUpQueue()
    const body = JSON.stringify({ a: 'x'.repeat(20 * 2 ** 20) })
    expect(await queue.post(CHAT, body)).toMatchObject({ status: 413, body: { error: { type: 'invalid_request_error' }, status: 413 } })
    const stream = new Blob([body]).stream()
    const reply = await call(queue, CHAT, { method: 'POST', body: stream })
    expect([reply.status, await reply.json()]).toMatchObject([413, { error: { type: 'invalid_request_error' } }])
  })

  it('[API-5, OAI-11] key, scope, endpoint, path and method are refused in the members of both APIs', async () => {
    const queue = await setUpQueue()
    const otherTenant = await createAccount()
    const readOnly = await createKey(queue.account.userId, { permission: 'RESTRICTED', scopes: ['jobs:read'] })
    const refused = async (key: string, method = 'POST') => {
      const reply = await send(`/v2/${queue.endpointId}${CHAT}`, { method, headers: { Authorization: `Bearer ${key}` } })
      const body = (await reply.json()) as { error: { type: string; message: string }; detail: string }
      expect(body.error.message).toBe(body.detail)
      return [reply.status, body.error.type]
    }
    expect(await refused('wrong')).toEqual([401, 'authentication_error'])
    expect(await refused(readOnly.key)).toEqual([401, 'authentication_error'])
    expect(await refused(otherTenant.key)).toEqual([404, 'not_found_error'])
    expect(await refused(queue.account.key, 'OPTIONS')).toEqual([405, 'invalid_request_error'])
  })

  it('[OAI-3] the bare prefix is no route', async () => {
    const queue = await setUpQueue()
    expect((await queue.post('/openai', ASK)).status).toBe(404)
  })

  it('[RUN-7] a full queue is 429', async () => {
    const account = await createAccount()
    const endpointId = await createEndpoint(account.key, { workers: { min: 0, max: 0, idleTimeout: 5 } })
    const post = (path: string) =>
      send(`/v2/${endpointId}${path}`, { method: 'POST', headers: { Authorization: `Bearer ${account.key}` }, body: '{"input":{}}' })
    await Promise.all(Array.from({ length: 51 }, () => post('/run')))
    const reply = await post(CHAT)
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([429, '5'])
    expect(await reply.json()).toMatchObject({ error: { type: 'rate_limit_error' } })
  })
})

function call(queue: QueueSetup, path: string, init: RequestInit): Promise<Response> {
  return send(`/v2/${queue.endpointId}${path}`, { ...init, headers: { Authorization: `Bearer ${queue.account.key}` } })
}

function callStream(queue: QueueSetup): Promise<Response> {
  return call(queue, CHAT, { method: 'POST', body: JSON.stringify({ ...ASK, stream: true }) })
}

/** A streaming call whose worker has sent its first text. */
async function openStream(queue: QueueSetup, words: string): Promise<{ reader: EventReader; worker: FakeWorker; id: string }> {
  const response = callStream(queue)
  const { worker, id } = await takeNext(queue)
  await worker.stream(id, { output: words })
  const reader = new EventReader(await response)
  await reader.until((text) => text.includes(words))
  return { reader, worker, id }
}

async function takeNext(queue: QueueSetup): Promise<{ worker: FakeWorker; id: string }> {
  const worker = await queue.host.startWorker(queue.endpointId)
  return { worker, id: (await worker.take())?.id ?? '' }
}

/** Takes a job, ends it with `result` and returns its input. */
async function answerNext(worker: FakeWorker, result: unknown): Promise<unknown> {
  const job = await worker.take()
  await worker.done(job?.id ?? '', result)
  return job?.input
}

/** The jobs of the endpoint, once there are `count`. */
async function jobsOf(queue: QueueSetup, count: number): Promise<{ id: string; status: string }[]> {
  for (;;) {
    const { requests } = (await queue.get('/requests')).body
    if (requests.length >= count) return requests
  }
}

const KEEPALIVE_MS = 20

function shortenKeepalive(queue: QueueSetup): Promise<void> {
  return runInDurableObject(endpointStub(env, queue.endpointId), (object) => {
    object.core.pace.keepaliveMs = KEEPALIVE_MS
  })
}

/** Waits until the stream has found nothing new three times in a row; each time it sends a comment if one is due. */
async function pollsAgain(queue: QueueSetup): Promise<void> {
  const stub = endpointStub(env, queue.endpointId)
  const checks = await runInDurableObject(stub, ({ core: { parking } }) => vi.spyOn(parking, 'waitForJob'))
  await until(() => checks.mock.calls.length > 3)
  checks.mockRestore()
}

function storedChunks(queue: QueueSetup): Promise<number> {
  return runInDurableObject(endpointStub(env, queue.endpointId), (_object, state) =>
    Number(state.storage.sql.exec('SELECT COUNT(*) AS n FROM chunks').one().n),
  )
}

/** Waits until no call waits for a job of the endpoint. */
async function vanished(queue: QueueSetup): Promise<void> {
  const waiting = () => runInDurableObject(endpointStub(env, queue.endpointId), (object) => object.core.parking.waitingJobs)
  await until(async () => (await waiting()) === 0)
}
