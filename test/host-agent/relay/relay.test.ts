import { readdirSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, test } from 'vitest'
import { silentLog } from '../../../src/host-agent/log.ts'
import type { RelayBounds } from '../../../src/host-agent/relay/bounds.ts'
import { type Relay, startRelay } from '../../../src/host-agent/relay/relay.ts'
import { parseRelayRoute } from '../../../src/host-agent/relay/routes.ts'
import { SOON, waitUntil } from '../../support/time.ts'
import { admitted, asWorker, keyOf } from '../support/callers.ts'
import { tempDir } from '../support/temp-dir.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Asks as the worker that the path names. */
function ask(url: string, { headers, ...init }: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, headers: { ...asWorker(url), ...(headers as Record<string, string> | undefined) } })
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void

async function startPlane(handler: Handler, port = 0): Promise<{ url: string; port: number; server: Server }> {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  cleanups.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${address.port}`, port: address.port, server }
}

async function startTestRelay(
  planeUrl: string,
  spoolDir = tempDir('relay-spool'),
  more: Partial<RelayBounds> = {},
  onTaken: (workerId: string) => void = () => {},
): Promise<{ relay: Relay; origin: string }> {
  const bounds = { pollHoldMs: 300, spoolAfterMs: 300, retryBaseMs: 10, retryMaxMs: 50, bodyMaxBytes: 1_000, ...more }
  const relay = await startRelay({
    planeUrl,
    address: '127.0.0.1',
    bounds,
    callers: admitted(['w1', 'w2', 'w3', 'w4', 'w5']),
    log: silentLog(),
    spoolDir,
    onTaken,
  })
  cleanups.push(() => relay.close())
  return { relay, origin: `http://127.0.0.1:${relay.port}` }
}

async function freePort(): Promise<number> {
  const { port, server } = await startPlane(() => {})
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe('relay', () => {
  test('a long poll passes through with its query and only the headers of the protocol', async ({ expect }) => {
    let seen: IncomingMessage | undefined
    const plane = await startPlane((incoming, response) => {
      seen = incoming
      setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"j","input":1}'), 400)
    })
    const { origin } = await startTestRelay(plane.url)
    const headers = { authorization: keyOf('w1'), 'content-type': 'application/json', cookie: 'a=b', 'x-forwarded-for': '1.1.1.1' }
    const response = await ask(`${origin}/v2/ep/job-take/w1?gpu=NVIDIA+L4&boot=n&job_in_progress=0`, { headers })
    expect(await response.json()).toEqual({ id: 'j', input: 1 })
    expect(seen?.url).toBe('/v2/ep/job-take/w1?gpu=NVIDIA+L4&boot=n&job_in_progress=0')
    expect(seen?.headers).toMatchObject({ authorization: keyOf('w1'), 'content-type': 'application/json' })
    expect(seen?.headers.cookie).toBeUndefined()
    expect(seen?.headers['x-forwarded-for']).toBeUndefined()
  })

  test('when the worker hangs up, the plane sees a reset, not a mere end of input', async ({ expect }) => {
    const upstream = Promise.withResolvers<Socket>()
    const ended = Promise.withResolvers<string>()
    const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
      socket.once('data', () => upstream.resolve(socket))
      socket.on('end', () => ended.resolve('FIN'))
      socket.on('error', (error: NodeJS.ErrnoException) => ended.resolve(error.code ?? ''))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    cleanups.push(() => void server.close())
    const { relay } = await startTestRelay(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const take = request({ host: '127.0.0.1', port: relay.port, path: '/v2/ep/job-take/w1?a=b', headers: { authorization: keyOf('w1') } })
    take.on('error', () => {})
    take.end()
    await upstream.promise
    take.destroy()
    expect(await ended.promise).toBe('ECONNRESET')
  })

  test('[HOST-36] a take with work is recorded before its worker gets it; other answers are not', async ({ expect }) => {
    const answers: [string, number][] = [
      ['job-take/w1', 200],
      ['job-take/w2', 204],
      ['job-stop/w3', 200],
      ['job-take-batch/w4', 200],
      ['job-take/w5', 400],
    ]
    const plane = await startPlane((incoming, response) => {
      const status = answers.find(([route]) => incoming.url?.includes(route))?.[1] ?? 500
      response.writeHead(status).end(status === 200 ? '{}' : undefined)
    })
    const taken: string[] = []
    const { origin } = await startTestRelay(plane.url, undefined, {}, (workerId) => taken.push(workerId))
    for (const [route] of answers) {
      const before = taken.length
      await ask(`${origin}/v2/ep/${route}?a=b`)
      expect(taken.slice(before)).toEqual(['job-take/w1', 'job-take-batch/w4'].includes(route) ? [route.split('/')[1]] : [])
    }
  })

  test('while the plane is away a take is held, then answered 204', async ({ expect }) => {
    const { origin } = await startTestRelay(`http://127.0.0.1:${await freePort()}`)
    const start = performance.now()
    const response = await ask(`${origin}/v2/ep/job-take/w1?a=b`)
    expect(response.status).toBe(204)
    expect(performance.now() - start).toBeGreaterThan(250)
  })

  test('a held take is served when the plane comes back', async ({ expect }) => {
    const port = await freePort()
    const { origin } = await startTestRelay(`http://127.0.0.1:${port}`)
    const response = ask(`${origin}/v2/ep/job-take-batch/w1?a=b`)
    await startPlane((_, answer) => answer.writeHead(200, { 'content-type': 'application/json' }).end('[]'), port)
    expect((await response).status).toBe(200)
  })

  test('a take never gets a fast error: 5xx is held, 4xx becomes 429', async ({ expect }) => {
    let status = 500
    const plane = await startPlane((_, response) => response.writeHead(status).end())
    const { origin } = await startTestRelay(plane.url)
    expect((await ask(`${origin}/v2/ep/job-stop/w1?a=b`)).status).toBe(204)
    status = 401
    expect((await ask(`${origin}/v2/ep/job-take/w1?a=b`)).status).toBe(429)
  })

  test('a ping succeeds without a plane', async ({ expect }) => {
    const { origin } = await startTestRelay(`http://127.0.0.1:${await freePort()}`)
    const response = await ask(`${origin}/v2/ep/ping/w1?a=b`)
    expect([response.status, await response.json()]).toEqual([200, {}])
  })

  test('a result is offered until the plane accepts it, also after the worker died', async ({ expect }) => {
    const seen: string[] = []
    const offered: string[] = []
    let isBack = false
    const plane = await startPlane(async (incoming, response) => {
      const body = await text(incoming)
      offered.push(body)
      if (!isBack) return void response.writeHead(503).end()
      seen.push(`${incoming.url} ${body}`)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
    const { relay, origin } = await startTestRelay(plane.url)
    const waiting = ask(`${origin}/v2/ep/job-done/w1/j1?a=b&isStream=false`, { method: 'POST', body: '{"output":1}' })
    const dying = request({
      host: '127.0.0.1',
      port: relay.port,
      path: '/v2/ep/job-done/w1/j2?a=b',
      method: 'POST',
      headers: { authorization: keyOf('w1') },
    })
    dying.on('error', () => {})
    dying.end('{"output":2}')
    await waitUntil('both are offered', () => offered.includes('{"output":1}') && offered.includes('{"output":2}'))
    dying.destroy()
    isBack = true
    expect((await waiting).status).toBe(200)
    await expect
      .poll(() => seen.toSorted(), SOON)
      .toEqual(['/v2/ep/job-done/w1/j1?a=b&isStream=false {"output":1}', '/v2/ep/job-done/w1/j2?a=b {"output":2}'])
  })

  test('a result that the plane did not accept survives the end of the agent', async ({ expect }) => {
    const spoolDir = tempDir('relay-spool')
    const port = await freePort()
    const first = await startTestRelay(`http://127.0.0.1:${port}`, spoolDir)
    const headers = { authorization: keyOf('w1'), 'content-type': 'application/x-www-form-urlencoded' }
    const lost = ask(`${first.origin}/v2/ep/job-done/w1/j1?a=b`, { method: 'POST', body: '{"output":"\\n1"}', headers }).catch(() => 'cut')
    await expect.poll(() => readdirSync(spoolDir).length, SOON).toBe(1)
    await first.relay.close()
    await lost

    const seen: unknown[] = []
    const plane = await startPlane(async (incoming, response) => {
      seen.push([incoming.url, incoming.headers.authorization, await text(incoming)])
      response.end('{}')
    }, port)
    await startTestRelay(plane.url, spoolDir)
    await expect.poll(() => seen, SOON).toEqual([['/v2/ep/job-done/w1/j1?a=b', keyOf('w1'), '{"output":"\\n1"}']])
    await expect.poll(() => readdirSync(spoolDir), SOON).toEqual([])
  })

  test('a result over the limit is answered 503', async ({ expect }) => {
    const plane = await startPlane((_, response) => response.end('{}'))
    const { origin } = await startTestRelay(plane.url)
    expect((await ask(`${origin}/v2/ep/job-done/w1/j1?a=b`, { method: 'POST', body: 'x'.repeat(2_000) })).status).toBe(503)
  })

  test('unfinished uploads count against the memory bound, and release it when they are aborted', async ({ expect }) => {
    const plane = await startPlane((incoming, response) => incoming.resume().on('end', () => response.end('{}')))
    const { relay, origin } = await startTestRelay(plane.url, undefined, { bufferMaxBytes: 8_000 })
    const path = '/v2/ep/job-done/w1/j1?a=b'
    const uploads = [1, 2].map(() => {
      const upload = request({ host: '127.0.0.1', port: relay.port, path, method: 'POST', headers: { authorization: keyOf('w1') } })
      upload.on('error', () => {})
      upload.write('x'.repeat(700))
      return upload
    })
    const post = () => ask(origin + path, { method: 'POST', body: 'y'.repeat(700) })
    await expect.poll(async () => (await post()).status, SOON).toBe(503)
    expect((await post()).headers.get('retry-after')).toBe('5')
    for (const upload of uploads) upload.destroy()
    await expect.poll(async () => (await post()).status, SOON).toBe(200)
  })

  test('[HOST-4] everything but worker routes is 404', async ({ expect }) => {
    const plane = await startPlane((_, response) => response.end('{}'))
    const { origin } = await startTestRelay(plane.url)
    for (const path of ['/', '/v2/ep/run', '/v2/pods', '/host/v1/token', '/v2/ep/job-take/', '/v1/ep/ping/w1']) {
      expect((await ask(origin + path, { headers: { authorization: keyOf('w1') } })).status, path).toBe(404)
    }
    expect((await ask(`${origin}/v2/ep/ping/w1`, { method: 'POST' })).status).toBe(404)
  })
})

test('a path cannot climb out of the worker routes', ({ expect }) => {
  for (const path of [
    '/v2/ep/ping/../../../v2/pods',
    '/v2/ep/ping/%2e%2e/run/x',
    '/v2/../host/v1/link/x',
    '/v2/../admin/v1/ping/w1',
    '/v2/..//127.0.0.1:9/ping/w1',
    '/v2/%2e%2e//127.0.0.1:9/ping/w1',
    '/v2/..\\\\127.0.0.1:9/ping/w1',
    '//evil/v2/ep/ping/w',
    '/v2/ep/__proto__/w',
  ]) {
    expect(parseRelayRoute('GET', path), path).toBeUndefined()
  }
  expect(parseRelayRoute('GET', '/v2/ep/job-take/w1&job_in_progress=0')?.target).toBe('/v2/ep/job-take/w1&job_in_progress=0')
})
