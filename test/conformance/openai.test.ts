import { describe } from 'vitest'
import type { PlayedEndpoint } from './support/endpoint.ts'
import { eventually, type OpenCall, openCall, within } from './support/http.ts'
import { expect, scenario } from './support/scenario.ts'

const CHAT = '/v1/chat/completions'
const QUESTION = { model: 'm', messages: [{ role: 'user', content: 'Grüße → 日本語' }], temperature: 0.5 }
const STREAMED = { ...QUESTION, stream: true }
const COMPLETION = { id: 'chatcmpl-1', object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' } }] }
const DONE = 'data: [DONE]\n\n'

interface OpenAiError {
  error: { message: string; type: string; code: unknown }
}

describe('requests', () => {
  scenario('[INV-14] OAI-1, OAI-4: a POST becomes a job, and a list of one completion is unwrapped', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const reply = endpoint.call('POST', `openai${CHAT}`, { body: QUESTION })
    const job = await worker.takeJob()
    expect(job.input).toEqual({ openai_route: CHAT, openai_input: QUESTION })
    await worker.done(job.id, { output: [COMPLETION] }, true)
    const { status, headers, body } = await reply
    expect([status, body]).toEqual([200, COMPLETION])
    expect(headers.get('content-type')).toMatch(/^application\/json\b/)
  })

  scenario('[INV-14] OAI-2: a GET becomes a job without openai_input', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const models = { object: 'list', data: [{ id: 'm', object: 'model' }] }
    const reply = endpoint.call('GET', 'openai/v1/models')
    const job = await worker.takeJob()
    expect(job.input).toEqual({ openai_route: '/v1/models' })
    await worker.done(job.id, { output: models })
    expect((await reply).body).toEqual(models)
  })

  scenario('[INV-14] OAI-3: any path below /openai is forwarded to the worker', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    for (const [method, route] of [
      ['POST', '/v1/embeddings'],
      ['POST', '/v1/some/other/route'],
      ['PUT', '/v2/thing'],
    ] as const) {
      const reply = endpoint.call(method, `openai${route}`, { body: { input: ['text'] } })
      const job = await worker.takeJob()
      // For methods other than GET and POST the worker may receive more.
      expect(job.input).toMatchObject({ openai_route: route, openai_input: { input: ['text'] } })
      await worker.done(job.id, { output: { object: 'x' } })
      expect((await reply).body).toEqual({ object: 'x' })
    }
  })

  scenario('[INV-14] OAI-4: results of every known engine are unwrapped', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const lines = ['{', '"object": "list",', '"data": [1, 2]', '}']
    const results: [unknown, unknown][] = [
      [[COMPLETION], COMPLETION],
      [COMPLETION, COMPLETION],
      [lines, { object: 'list', data: [1, 2] }],
      [
        [{ a: 1 }, { b: 2 }],
        [{ a: 1 }, { b: 2 }],
      ],
    ]
    for (const [output, wanted] of results) {
      const reply = endpoint.call('POST', 'openai/v1/embeddings', { body: { input: 'text' } })
      await worker.done((await worker.takeJob()).id, { output })
      const { status, body } = await reply
      expect([status, body]).toEqual([200, wanted])
    }
  })

  scenario('[INV-14] API-4: a bare key is 401 here too', {}, async (endpoint) => {
    const reply = await endpoint.call('POST', `openai${CHAT}`, { key: endpoint.apiKey, body: QUESTION })
    expect(reply.status).toBe(401)
    expect((await endpoint.health()).jobs.inQueue).toBe(0)
  })
})

describe('streams', () => {
  scenario(
    '[INV-14] OAI-5: pieces of SSE text, cut anywhere, are forwarded byte for byte, with one [DONE]',
    { workers: 1 },
    async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const whole = `data: {"choices":[{"delta":{"content":"Grüße\\n"}}]}\n\nevent: extra\r\ndata: {"n":1}\r\n\r\ndata: {"n":2}\n\n${DONE}`
      const pieces = [whole.slice(0, 9), whole.slice(9, 41), whole.slice(41, 90), whole.slice(90, -9), whole.slice(-9)]
      const open = openStream(endpoint)
      const job = await worker.takeJob()
      expect(job.input).toEqual({ openai_route: CHAT, openai_input: STREAMED })
      for (const piece of pieces) await worker.chunk(job.id, { output: piece })
      await worker.done(job.id, { output: [] }, true)
      const { status, headers } = await open.started
      expect(status).toBe(200)
      expect(headers['content-type']).toMatch(/^text\/event-stream\b/)
      expect(withoutComments(await open.ended)).toBe(whole)
    },
  )

  scenario('[INV-14] OAI-5: [DONE] is added when the worker never sent it', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const open = openStream(endpoint)
    const { id } = await worker.takeJob()
    await worker.chunk(id, { output: 'data: {"n":1}\n\n' })
    await worker.done(id, { output: [] }, true)
    expect(withoutComments(await open.ended)).toBe(`data: {"n":1}\n\n${DONE}`)
  })

  scenario('[INV-14] OAI-5: chunks that are objects or arrays become frames', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const open = openStream(endpoint)
    const { id } = await worker.takeJob()
    await worker.chunk(id, { output: { n: 1 } })
    await worker.chunk(id, { output: [{ n: 2 }, { n: 3 }] })
    await worker.done(id, { output: [] }, true)
    expect(dataOf(await open.ended)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}', '[DONE]'])
  })

  scenario('[INV-14] OAI-5: a chunk is sent while the job still runs', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const open = openStream(endpoint)
    const { id } = await worker.takeJob()
    await worker.chunk(id, { output: 'data: {"n":1}\n\n' })
    await eventually('the first chunk arrives', async () => open.text().includes('{"n":1}'))
    expect((await endpoint.status(id)).status).toBe('IN_PROGRESS')
    await worker.done(id, { output: [] }, true)
    await open.ended
  })

  scenario(
    '[INV-14] OAI-6: comments keep the connection alive while the job is queued, and while its worker is silent',
    { workers: 1 },
    async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const open = openStream(endpoint)
      const pings = () => open.text().match(/^: ping$/gm)?.length ?? 0
      await eventually('a ping comes in the queue', async () => pings() > 0)
      const { id } = await worker.takeJob()
      await worker.chunk(id, { output: 'data: {"n":1}\n\n' })
      const before = pings()
      await eventually('a ping comes while it runs', async () => pings() > before)
      await worker.done(id, { output: [] }, true)
      expect(withoutComments(await open.ended)).toBe(`data: {"n":1}\n\n${DONE}`)
    },
  )
})

describe('errors', () => {
  const FAILURE = "{'message': 'CUDA out of memory', 'type': 'InternalServerError', 'code': 500}"

  scenario("[INV-14] OAI-7: a worker's error is a 4xx or 5xx with an OpenAI error body", { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    for (const error of [FAILURE, 'plain text: CUDA out of memory']) {
      const reply = endpoint.call<OpenAiError>('POST', `openai${CHAT}`, { body: QUESTION })
      await worker.done((await worker.takeJob()).id, { error }, true)
      const { status, headers, body } = await reply
      expect(status).toBeGreaterThanOrEqual(400)
      expect(headers.get('content-type')).toMatch(/^application\/json\b/)
      expectError(body)
    }
  })

  scenario('[INV-14] OAI-7: once the stream has begun, the error is one frame of it', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const open = openStream(endpoint)
    const { id } = await worker.takeJob()
    await worker.chunk(id, { output: 'data: {"n":1}\n\n' })
    await eventually('the first chunk arrives', async () => open.text().includes('{"n":1}'))
    await worker.done(id, { error: FAILURE }, true)
    const [first, second] = dataOf(await open.ended)
    expect(first).toBe('{"n":1}')
    expectError(JSON.parse(second ?? '') as OpenAiError)
  })
})

describe('clients that disconnect', () => {
  for (const body of [QUESTION, STREAMED]) {
    const kind = body === STREAMED ? 'stream' : 'plain call'

    scenario(`[INV-14] OAI-8: the running job of a ${kind} is cancelled when its client disconnects`, { workers: 1 }, async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const open = openChat(endpoint, body)
      const { id } = await worker.takeJob()
      open.reset()
      await endpoint.reaches(id, 'CANCELLED')
      expect(await worker.nextStop()).toEqual([id])
    })

    scenario(`[INV-14] OAI-8: the queued job of a ${kind} is cancelled when its client disconnects`, {}, async (endpoint) => {
      const open = openChat(endpoint, body)
      await eventually('the job is queued', async () => (await endpoint.health()).jobs.inQueue === 1)
      open.reset()
      await eventually('the queue is empty', async () => (await endpoint.health()).jobs.inQueue === 0)
    })
  }
})

function openStream(endpoint: PlayedEndpoint): OpenCall {
  return openChat(endpoint, STREAMED)
}

function openChat(endpoint: PlayedEndpoint, body: unknown): OpenCall {
  const headers = { authorization: `Bearer ${endpoint.apiKey}`, 'content-type': 'application/json' }
  const open = openCall(`${endpoint.planeUrl}/v2/${endpoint.id}/openai${CHAT}`, { method: 'POST', headers, body })
  const ended = within('the answer is complete', open.ended)
  // A test that breaks the connection expects no end.
  ended.catch(() => undefined)
  return { ...open, ended }
}

/** The text that a client reads: lines that start with a colon are comments, and an event of comments alone is ignored. */
function withoutComments(text: string): string {
  return text.replaceAll(/^:[^\n]*\n(?:\n)?/gm, '')
}

function dataOf(text: string): string[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map((match) => match[1] ?? '')
}

function expectError({ error }: OpenAiError): void {
  expect(error.message).toContain('CUDA out of memory')
  expect(error.type).toEqual(expect.any(String))
  expect(error).toHaveProperty('code')
}
