import { request } from 'node:http'
import { join } from 'node:path'
import OpenAI, { APIError, NotFoundError } from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROJECT_ROOT } from '../../../src/local/paths.ts'
import { BUILD_TIMEOUT_MS, pythonWorkerImage } from '../support/agent/worker-image.ts'
import { docker, findContainer } from '../support/machines/docker.ts'
import { GPU_ARGS, TestEndpoint } from '../support/plane/endpoint.ts'
import { callPlane, eventually, startPlane, type TestPlane } from '../support/plane/plane.ts'

// OAI-1…OAI-8: the published OpenAI client, unmodified, and the worker of examples/openai-worker on the published Python SDK in a
// container that the agent starts through Docker.

const MODEL = 'parrot'
const COUNTING = Array.from({ length: 400 }, (_, n) => String(n)).join(' ')

interface RequestsView {
  requests: { id: string; status: string; createdAt: string; workerId?: string }[]
}

let plane: TestPlane
let endpoint: TestEndpoint
let client: OpenAI

beforeAll(async () => {
  const image = await pythonWorkerImage(join(PROJECT_ROOT, 'examples/openai-worker'))
  plane = await startPlane({ args: GPU_ARGS })
  endpoint = await TestEndpoint.create(plane, 'openai', {
    image,
    cmd: ['python3', '-u', '/handlers/handler.py'],
    workers: { max: 1, idleTimeout: 300 },
  })
  client = new OpenAI({ apiKey: plane.apiKey, baseURL: `${plane.url}/v2/${endpoint.id}/openai/v1`, maxRetries: 0 })
}, BUILD_TIMEOUT_MS)
afterAll(async () => {
  await plane?.stop()
})

describe('the OpenAI client', () => {
  test('OAI-2, OAI-4: lists models, over a cold start', async () => {
    const models = await client.models.list()
    expect(models.data).toEqual([{ id: MODEL, object: 'model', created: 0, owned_by: 'example' }])
  })

  test('OAI-4: gets a whole completion', async () => {
    const completion = await client.chat.completions.create({ model: MODEL, messages: say('grüß dich, 世界 "quoted"') })
    expect(completion).toMatchObject({ object: 'chat.completion', model: MODEL })
    expect(completion.choices[0]?.message.content).toBe('grüß dich, 世界 "quoted" ')
    expect(completion.id).toMatch(/^chatcmpl-sync-/)
  })

  test('OAI-5: streams a completion, word by word, although the worker cuts its text anywhere', async () => {
    const stream = await client.chat.completions.create({ model: MODEL, messages: say('one two three 世界'), stream: true })
    const words: string[] = []
    for await (const chunk of stream) words.push(chunk.choices[0]?.delta.content ?? '')
    expect(words).toEqual(['one ', 'two ', 'three ', '世界 ', ''])
    await eventually('the job is over', 10_000, async () => (await newest()).status === 'COMPLETED')
  })

  test('OAI-3: many concurrent calls share one worker', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => client.chat.completions.create({ model: MODEL, messages: say(`call ${n}`) })),
    )
    expect(answers.map((answer) => answer.choices[0]?.message.content)).toEqual(Array.from({ length: 12 }, (_, n) => `call ${n} `))
    const { requests } = await callPlane<RequestsView>(plane, plane.apiKey, 'GET', `/v2/${endpoint.id}/requests?limit=12`)
    expect(new Set(requests.map((request) => request.workerId)).size).toBe(1)
  })

  test.each([false, true])('OAI-7: an error of the worker is raised with its status (stream: %s)', async (stream) => {
    const error = await client.chat.completions.create({ model: 'dodo', messages: say('x'), stream }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(NotFoundError)
    expect(error).toMatchObject({
      status: 404,
      type: 'NotFoundError',
      message: expect.stringContaining('The model `dodo` does not exist.'),
    })
  })

  test('OAI-7: refusals of the platform are raised with their text', async () => {
    const wrongKey = new OpenAI({ apiKey: 'wrong', baseURL: client.baseURL, maxRetries: 0 })
    const error = await wrongKey.models.list().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(APIError)
    expect(error).toMatchObject({ status: 401, type: 'authentication_error', message: expect.stringContaining('invalid bearer token') })
  })

  test('OAI-8: a client that disconnects in the middle of a stream cancels the job, and its handler stops', async () => {
    const stream = await client.chat.completions.create({ model: MODEL, messages: say(COUNTING), stream: true })
    let words = 0
    for await (const _chunk of stream) if (++words === 3) break
    const job = await eventually('the job is cancelled', 20_000, async () => {
      const found = await newest()
      return found.status === 'CANCELLED' && found
    })
    const container = (await findContainer(job.workerId ?? '')) ?? ''
    // The SDK's own text, once it has stopped the handler of that job and of no other.
    const stopped = new RegExp(`${job.id}.*Job stopped|Job stopped.*${job.id}`)
    await eventually('the handler stops', 20_000, async () => stopped.test(await docker('logs', container)))
    const after = await client.chat.completions.create({ model: MODEL, messages: say('still there') })
    expect(after.choices[0]?.message.content).toBe('still there ')
  })

  const THINKING = { model: MODEL, messages: say('a b'), seconds_per_word: 600 }

  test('OAI-6, OAI-8: a client that closes its stream while the worker computes cancels the job at the next keepalive', async () => {
    const stream = await client.chat.completions.create({ ...THINKING, stream: true })
    const job = await runningJob()
    stream.controller.abort()
    await eventually('the job is cancelled', 30_000, async () => (await endpoint.status(job.id)).status === 'CANCELLED')
  })

  test('OAI-8: a client that resets the connection of a call without a stream cancels the job', async () => {
    const headers = { Authorization: `Bearer ${plane.apiKey}`, 'Content-Type': 'application/json' }
    const call = request(`${client.baseURL}/chat/completions`, { method: 'POST', headers, agent: false })
    const closed = new Promise((resolve) => call.once('error', resolve))
    call.end(JSON.stringify(THINKING))
    const job = await runningJob()
    call.socket?.resetAndDestroy()
    await closed
    await eventually('the job is cancelled', 20_000, async () => (await endpoint.status(job.id)).status === 'CANCELLED')
  })
})

function say(content: string): OpenAI.ChatCompletionMessageParam[] {
  return [{ role: 'user', content }]
}

function runningJob(): Promise<RequestsView['requests'][number]> {
  return eventually('the job runs', 20_000, async () => {
    const job = await newest()
    return job.status === 'IN_PROGRESS' && job
  })
}

/** The youngest job of the endpoint. */
async function newest(): Promise<RequestsView['requests'][number]> {
  const { requests } = await callPlane<RequestsView>(plane, plane.apiKey, 'GET', `/v2/${endpoint.id}/requests?limit=1`)
  if (!requests[0]) throw new Error('the endpoint has no job')
  return requests[0]
}
