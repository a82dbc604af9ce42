import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { waitUntil } from '../../support/time.ts'
import { BUILD_TIMEOUT_MS, pythonWorkerImage } from '../support/agent/worker-image.ts'
import { docker, findContainer } from '../support/machines/docker.ts'
import { callPlane, startAgent, startPlane, type TestAgent, type TestPlane } from '../support/plane/plane.ts'
import { FRAMINGS, sendRaw, statusesOf } from '../support/plane/raw-http.ts'

// Requests to a tenant's own HTTP server in a real container, through the plane and a real agent's tunnel.

let plane: TestPlane
let agent: TestAgent
let endpoint: { id: string; requestUrls: { base: string } }

beforeAll(async () => {
  const image = await pythonWorkerImage(join(import.meta.dirname, '../support/servers'))
  plane = await startPlane({ args: ['--no-agent'] })
  agent = await startAgent({ plane, name: 'serving', simulateGpus: 'NVIDIA L4:4', onExit: 'keep' })
  endpoint = await callPlane(plane, plane.apiKey, 'POST', '/v2/serverless', {
    name: 'serving',
    type: 'LOAD_BALANCER',
    image,
    cmd: ['python3', '/handlers/serve.py'],
    disk: 1,
    gpu: { pools: ['AMPERE_24'] },
    env: { PORT: '8000', HEALTH_CHECK_PATH: '/healthy' },
    workers: { min: 0, max: 2, idleTimeout: 600 },
    scaling: { type: 'REQUEST_COUNT', requestCount: 20 },
  })
}, BUILD_TIMEOUT_MS)
afterAll(async () => {
  if (plane) await callPlane(plane, plane.apiKey, 'DELETE', `/v2/serverless/${endpoint.id}`).catch(() => undefined)
  await waitUntil('no worker', async () => (await workers()).length === 0, 40_000).catch(() => undefined)
  await agent?.stop()
  await plane?.stop()
})

const ask = (path: string, init: RequestInit = {}) =>
  fetch(endpoint.requestUrls.base + path, { ...init, headers: { authorization: `Bearer ${plane.apiKey}`, ...init.headers } })
const workers = () =>
  callPlane<{ workers: { id: string }[] }>(plane, plane.apiKey, 'GET', `/v2/serverless/${endpoint.id}/workers`).then((view) => view.workers)
const health = () => callPlane<{ requests: { inFlight: number } }>(plane, plane.apiKey, 'GET', `/v2/${endpoint.id}/health`)
/** Far shorter than the minute after which a slot without a request is released anyway (LB-16). */
const PLACES_MS = 20_000

describe('a load-balancing endpoint with real containers', () => {
  test('[LB-1, LB-3, LB-7, LB-12] the first request waits for a container and gets its answer; the container does not see the key', async () => {
    const answer = await ask('/who')
    const [worker] = await workers()
    expect([answer.status, await answer.text()]).toEqual([200, `${worker?.id} None`])
  }, 60_000)

  test('[LB-1] [LB-16] [REST-33] a request that hides another is at most one request to the container, and holds no slot afterwards', async () => {
    const { pathname } = new URL(endpoint.requestUrls.base)
    const hidden = 'GET /hidden HTTP/1.1\r\nhost: x\r\n\r\n'
    const answers = await Promise.all(
      FRAMINGS.map(async ([what, frame], index) => {
        const { lines, body } = frame(hidden)
        const head = `POST ${pathname}/framing-${index} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${plane.apiKey}\r\n`
        return [what, statusesOf(await sendRaw(plane.port, `${head}${lines}\r\n\r\n${body}`))] as const
      }),
    )
    for (const [what, statuses] of answers) expect(statuses.length, what).toBeLessThanOrEqual(1)
    // LB-16: also after a body that breaks off before there is a slot.
    await waitUntil('none of them holds a place', async () => (await health()).requests.inFlight === 0, PLACES_MS)
    const seen = (await (await ask('/seen')).text()).split('\n').filter((line) => !/^GET \/(healthy|who|seen) /.test(line))
    expect(seen).toContain('POST /framing-0 HTTP/1.1')
    expect(seen.filter((line, at) => !/^POST \/framing-\d+ HTTP\/1\.1$/.test(line) || seen.indexOf(line) !== at)).toEqual([])
  })

  test('[LB-1, HOST-122] 5 MB go up and come back', async () => {
    const body = Buffer.alloc(5 * 2 ** 20).map((_, at) => (at * 7 + (at >> 9)) & 255)
    const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
    const answer = await ask('/', { method: 'POST', body })
    expect([answer.status, hash(new Uint8Array(await answer.arrayBuffer()))]).toEqual([200, hash(body)])
  })

  test('[LB-1] events arrive one by one', async () => {
    const answer = await ask('/events')
    const pieces: string[] = []
    for await (const bytes of answer.body ?? []) pieces.push(new TextDecoder().decode(bytes))
    expect(pieces).toEqual(['data: 0\n\n', 'data: 1\n\n', 'data: 2\n\n'])
  })

  test('[LB-1, HOST-124] a WebSocket connects to the container', async () => {
    const socket = new WebSocket(`${endpoint.requestUrls.base.replace('http', 'ws')}/socket`, {
      headers: { authorization: `Bearer ${plane.apiKey}` },
    })
    const said: string[] = []
    socket.on('message', (data, isBinary) => said.push(`${isBinary} ${String(data)}`))
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    socket.send('hello')
    socket.send(Buffer.from('x'.repeat(1_000)))
    await waitUntil('two echoes', () => said.length === 2)
    socket.close(4002, 'done')
    const code = await new Promise((resolve) => socket.once('close', resolve))
    expect([said, code]).toEqual([['false hello', `true ${'x'.repeat(1_000)}`], 4002])
  })

  test('[LB-4, LB-5] 50 concurrent requests start a second worker, and both get their share', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => ask('/hold?6').then(async (answer) => [answer.status, await answer.text()])),
    )
    expect(answers.map(([status]) => status)).toEqual(Array.from({ length: 50 }, () => 200))
    expect(new Set(answers.map(([, text]) => text)).size).toBe(2)
  }, 60_000)

  test('[LB-10] another account finds no such endpoint', async () => {
    const user = await callPlane<{ id: string }>(plane, plane.operatorKey, 'POST', '/admin/v1/users', { email: 'other@example.com' })
    const { key } = await callPlane<{ key: string }>(plane, plane.operatorKey, 'POST', `/admin/v1/users/${user.id}/keys`, { name: 'k' })
    expect((await ask('/who', { headers: { authorization: `Bearer ${key}` } })).status).toBe(404)
  })

  test('[LB-9, HOST-126] a container that dies during its answer aborts the answer; the next request works', async () => {
    const broken = await ask('/die')
      .then(
        (answer) => answer.text(),
        () => 'broken',
      )
      .catch(() => 'broken')
    expect(broken).toBe('broken')
    expect((await ask('/who')).status).toBe(200)
    const next = (await (await ask('/who')).text()).split(' ')[0]
    const container = await findContainer(next ?? '')
    // Among idle workers the same one is chosen again.
    const held = ask('/hold?20').then((answer) => answer.status)
    await waitUntil('a request', async () => (await health()).requests.inFlight === 1)
    await docker('kill', container ?? '')
    expect(await held).toBe(502)
    expect((await ask('/who')).status).toBe(200)
  }, 60_000)

  test('[HOST-120] an agent that restarts reaches the containers that continued to run', async () => {
    const before = (await (await ask('/who')).text()).split(' ')[0]
    await agent.kill('SIGKILL')
    agent = await startAgent({ plane, name: 'serving', simulateGpus: 'NVIDIA L4:4', stateDir: agent.stateDir, onExit: 'stop' })
    const answer = await ask('/who')
    expect([answer.status, (await workers()).some(({ id }) => id === before)]).toEqual([200, true])
  }, 60_000)
})
