import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiBody, type ApiClient, createApiClient } from '../../../src/client/client.ts'
import { OpenAI } from '../clients/openai.ts'
import { declaredBy, exampleImage } from '../support/agent/example-image.ts'
import { BUILD_TIMEOUT_MS, openaiClient } from '../support/agent/worker-image.ts'
import { eventually, startPlane, type TestPlane } from '../support/plane/plane.ts'

// Each example unchanged: its handler, its packages by their hashes, and the declarations of its podplane.toml, on the platform as a user
// has it. Models answer in text, which a test searches; all of them are part of the image.

const COLD_MS = 180_000
const runFile = promisify(execFile)

let plane: TestPlane
let api: ApiClient

async function deploy(example: string): Promise<string> {
  const image = await exampleImage(example, 'handler.py')
  const { smoke: _smoke, ...members } = declaredBy(example, 'endpoints', example, image)
  return (await api.createEndpoint({ body: members as ApiBody<'createEndpoint'> })).id
}

/** The job that the example's podplane.toml sends as its smoke test. */
function smokeOf(example: string): Record<string, unknown> {
  const { smoke } = declaredBy(example, 'endpoints', example, 'unused') as { smoke: { input: Record<string, unknown> } }
  return smoke.input
}

async function runJob(endpointId: string, input: Record<string, unknown>): Promise<unknown> {
  const { id } = (await api.request('POST', `/v2/${endpointId}/run`, { input })) as { id: string }
  let job: { status: string; output?: unknown } = { status: 'IN_QUEUE' }
  await eventually(`job ${id} is over`, COLD_MS, async () => {
    job = (await api.request('GET', `/v2/${endpointId}/status/${id}`)) as typeof job
    return !['IN_QUEUE', 'IN_PROGRESS'].includes(job.status)
  })
  expect(job).toMatchObject({ status: 'COMPLETED' })
  return job.output
}

/** The output of a cell, in a kernel of its own. */
async function runCell(connection: string, token: string, code: string): Promise<string> {
  const made = await fetch(`${connection}/api/kernels?${token}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  const { id } = (await made.json()) as { id: string }
  const socket = new WebSocket(`${connection.replace('http', 'ws')}/api/kernels/${id}/channels?${token}`)
  const said = Promise.withResolvers<string>()
  socket.onerror = () => said.reject(new Error('the notebook has closed its socket'))
  socket.onmessage = ({ data }) => {
    const { msg_type: type, content } = JSON.parse(String(data)) as { msg_type: string; content: { data?: Record<string, string> } }
    if (type === 'execute_result') said.resolve(content.data?.['text/plain'] ?? '')
  }
  socket.onopen = () => socket.send(JSON.stringify(executeRequest(code)))
  try {
    return await said.promise
  } finally {
    socket.close()
  }
}

/** An execute request of the Jupyter protocol. */
function executeRequest(code: string): Record<string, unknown> {
  const header = { msg_id: 'cell-1', username: 'test', session: 'test', msg_type: 'execute_request', version: '5.3' }
  return { header, parent_header: {}, metadata: {}, channel: 'shell', buffers: [], content: { code, silent: false, store_history: true } }
}

beforeAll(async () => {
  plane = await startPlane()
  api = createApiClient(plane.url, plane.apiKey)
}, BUILD_TIMEOUT_MS)
afterAll(() => plane?.stop())

describe('examples/chat', () => {
  let id: string
  beforeAll(async () => {
    id = await deploy('chat')
  }, BUILD_TIMEOUT_MS)
  afterAll(() => api.deleteEndpoint({ path: { id } }))

  test('answers its smoke test job', { timeout: COLD_MS }, async () => {
    expect(JSON.stringify(await runJob(id, smokeOf('chat')))).toContain('Paris')
  })

  test('answers the client of npm, whole and as a stream', { timeout: COLD_MS }, async () => {
    const client = new OpenAI({ apiKey: plane.apiKey, baseURL: `${plane.url}/v2/${id}/openai/v1`, maxRetries: 0, timeout: COLD_MS })
    const call = {
      model: 'smollm2-135m-instruct',
      messages: [{ role: 'user' as const, content: 'What is the capital of France? Answer with its name.' }],
      max_tokens: 16,
      temperature: 0,
    }
    const whole = await client.chat.completions.create(call)
    expect(whole.choices[0]?.message.content).toContain('Paris')
    expect(whole.usage?.completion_tokens).toBeGreaterThan(1)
    const parts: string[] = []
    for await (const chunk of await client.chat.completions.create({ ...call, stream: true }))
      parts.push(chunk.choices[0]?.delta.content ?? '')
    expect(parts.filter((part) => part !== '').length).toBeGreaterThan(3)
    expect(parts.join('')).toContain('Paris')
  })

  test('answers the client of PyPI', { timeout: COLD_MS }, async () => {
    const env = { ...process.env, API_KEY: plane.apiKey, BASE_URL: `${plane.url}/v2/${id}/openai/v1` }
    const { stdout } = await runFile(await openaiClient(), [join(import.meta.dirname, '../support/clients/openai_client.py')], { env })
    const { plain, streamed } = JSON.parse(stdout) as { plain: string; streamed: string[] }
    expect(plain).toContain('Paris')
    expect(streamed.join('')).toContain('Paris')
  })
})

describe('examples/embeddings', () => {
  let id: string
  beforeAll(async () => {
    id = await deploy('embeddings')
  }, BUILD_TIMEOUT_MS)
  afterAll(() => api.deleteEndpoint({ path: { id } }))

  test('the right passage is nearest to its question', { timeout: COLD_MS }, async () => {
    await runJob(id, smokeOf('embeddings'))
    const client = new OpenAI({ apiKey: plane.apiKey, baseURL: `${plane.url}/v2/${id}/openai/v1`, maxRetries: 0, timeout: COLD_MS })
    const passages = [
      'A workload is moved when its machine is drained.',
      'Protein is found in beans, eggs and fish.',
      'The museum opens at nine on weekdays.',
    ]
    const stored = await client.embeddings.create({ model: 'multilingual-e5-small', input: passages })
    const asked = await client.embeddings.create({
      model: 'multilingual-e5-small',
      input: 'What should I eat to get enough protein?',
      input_type: 'query',
    } as OpenAI.EmbeddingCreateParams)
    const question = asked.data[0]?.embedding ?? []
    const scores = stored.data.map(({ embedding }) => embedding.reduce((sum, value, index) => sum + value * (question[index] ?? 0), 0))
    expect(question).toHaveLength(384)
    expect(scores.indexOf(Math.max(...scores))).toBe(1)
  })
})

describe('examples/speech', () => {
  let id: string
  const directory = mkdtempSync(join(tmpdir(), 'podplane-speech-'))
  beforeAll(async () => {
    id = await deploy('speech')
  }, BUILD_TIMEOUT_MS)
  afterAll(async () => {
    rmSync(directory, { recursive: true, force: true })
    await api.deleteEndpoint({ path: { id } })
  })

  test('transcribes synthetic speech', { timeout: COLD_MS }, async () => {
    await runJob(id, smokeOf('speech'))
    const file = join(directory, 'speech.wav')
    await runFile('espeak-ng', ['-w', file, 'Please send the report to the office on Monday morning.'])
    const heard = (await runJob(id, { audio_base64: readFileSync(file).toString('base64') })) as {
      transcription: string
      segments: unknown[]
    }
    for (const word of ['report', 'office', 'Monday']) expect(heard.transcription).toContain(word)
    expect(heard.segments.length).toBeGreaterThan(0)
  })
})

describe('examples/notebook-pod', () => {
  test('opens through the plane with the generated password, and runs a cell', { timeout: BUILD_TIMEOUT_MS }, async () => {
    const image = await exampleImage('notebook-pod', 'start.sh')
    const operator = createApiClient(plane.url, plane.operatorKey)
    await eventually('the workers of the other examples have left', COLD_MS, async () => {
      return (await operator.listHosts()).hosts.every(({ workloads }) => workloads.workers === 0)
    })
    const pod = await api.createPod({ body: declaredBy('notebook-pod', 'pods', 'notebook', image) as ApiBody<'createPod'> })
    const connection = `${plane.url}/proxy/${pod.id}/8888`
    const token = `token=${pod.env.JUPYTER_PASSWORD}`
    await eventually('the notebook answers', COLD_MS, async () => (await fetch(`${connection}/api/status?${token}`)).ok)
    expect((await fetch(`${connection}/api/kernels`)).status).toBe(403)
    expect(await runCell(connection, token, '6 * 7')).toBe('42')
    await api.deletePod({ path: { id: pod.id } })
  })
})
