import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { JOB_DEFAULTS } from '../../../src/contract/defaults.ts'
import { callPlane, startPlane, type TestPlane } from '../support/plane/plane.ts'
import { FRAMINGS, sendRaw, statusesOf } from '../support/plane/raw-http.ts'

// Invalid input from clients over real HTTP: the answer is always JSON with the right status, never a 500.

const MIB = 2 ** 20
const RUN_LIMIT = 10 * MIB
const RUNSYNC_LIMIT = 20 * MIB
const UNKNOWN_JOB = '00000000-0000-4000-8000-000000000000-u1'

interface Answer {
  status: number
  headers: Headers
  text: string
  body: Record<string, unknown>
}

interface Received {
  status: number
  headers: string
  text: string
}

let plane: TestPlane
let otherTenantKey: string

beforeAll(async () => {
  plane = await startPlane()
  const operator = plane.operatorKey
  const user = await callPlane<{ id: string }>(plane, operator, 'POST', '/admin/v1/users', { email: 'stranger@example.com' })
  otherTenantKey = (await callPlane<{ key: string }>(plane, operator, 'POST', `/admin/v1/users/${user.id}/keys`, { name: 'stranger' })).key
})
afterAll(() => plane?.stop())

describe('submitting', () => {
  test.each([
    ['nothing', ''],
    ['text that is no JSON', '{"input":{"a":1}'],
    ['a JSON string', '"input"'],
    ['null', 'null'],
    ['a list', '[{"input":{}}]'],
    ['no input', '{}'],
    ['null input', '{"input":null}'],
    ['a list as input', '{"input":[]}'],
    ['text as input', '{"input":"prompt"}'],
    ['a policy that is no object', '{"input":{},"policy":5}'],
    ['a ttl that is too short', '{"input":{},"policy":{"ttl":9999}}'],
    ['an execution timeout that is too short', '{"input":{},"policy":{"executionTimeout":1}}'],
    ['a webhook that is no address', '{"input":{},"webhook":"not an address"}'],
    ['a webhook to a metadata service', '{"input":{},"webhook":"http://169.254.169.254/latest"}'],
    ['bytes that are no UTF-8', new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])],
  ])('RUN-2, INV-6: %s is 400', async (_what, body) => {
    for (const path of ['run', 'runsync']) expectProblem(await call('POST', path, { body }), 400)
  })

  test('INV-6: an empty input is fine, and the worker gets it', async () => {
    const { status, body } = await call('POST', 'runsync?wait=30000', { body: '{"input":{}}' })
    expect([status, body.status, body.output]).toEqual([200, 'COMPLETED', {}])
  })

  test('a deeply nested input comes back as it was', async () => {
    const depth = 2_000
    const input = `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`
    const answer = await call('POST', 'runsync?wait=30000', { body: `{"input":${input}}` })
    expect([answer.status, answer.body.status]).toEqual([200, 'COMPLETED'])
    expect(answer.text).toContain(`"output":${input}`)
  })

  test.each([
    ['run', RUN_LIMIT],
    ['runsync', RUNSYNC_LIMIT],
  ])('LIM-2: %s takes %i bytes and refuses one more, whether the length is announced or not', async (path, limit) => {
    const wait = path === 'runsync' ? '?wait=1000' : ''
    expect((await call('POST', `${path}${wait}`, { body: bodyOf(limit) })).status).toBe(200)
    expectProblem(await call('POST', path, { body: bodyOf(limit + 1) }), 413)
    expect(await sendChunked(path, bodyOf(limit + 1))).toMatchObject({ status: 413, type: 'application/json' })
  })
})

describe('lines and framing that are not HTTP', () => {
  const line = (target: string, framing = 'content-length: 12') => `POST ${target} HTTP/1.1\r\nhost: x\r\n${framing}\r\n`

  test.each([
    ['a target without a slash', (path: string) => line(path.slice(1))],
    ['a length that is no number', (path: string) => line(path, 'content-length: twelve')],
    ['a negative length', (path: string) => line(path, 'content-length: -12')],
    ['two lengths', (path: string) => line(path, 'content-length: 12\r\ncontent-length: 13')],
    ['a chunk without a size', (path: string) => line(path, 'transfer-encoding: chunked')],
  ])('[L3] [REST-33] %s: an error, no action, and the next connection is served', async (_what, head) => {
    const before = await jobsEver()
    const path = `/v2/${plane.endpointId}/run`
    const answer = await sendRaw(plane.port, `${head(path)}authorization: Bearer ${plane.apiKey}\r\n\r\n{"input":{}}`)
    expect(answer).toMatch(/^(HTTP\/1\.1 [45]|$)/)
    expect(await jobsEver()).toBe(before)
  })

  test('[REST-33] a target in absolute form is its path, whatever host it names', async () => {
    const path = `/v2/${plane.endpointId}/run`
    const answer = await sendRaw(
      plane.port,
      `${line(`http://elsewhere.example.com${path}`)}authorization: Bearer ${plane.apiKey}\r\n\r\n{"input":{}}`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(answer).toContain('"IN_QUEUE"')
  })
})

describe('a request that hides another one', () => {
  const asOperator = () => `authorization: Bearer ${plane.operatorKey}\r\n`
  const users = (lines = '') => `GET /admin/v1/users HTTP/1.1\r\nhost: x\r\n${lines}\r\n`
  const run = (lines: string, body: string, authorization = `authorization: Bearer ${plane.apiKey}\r\n`) =>
    `POST /v2/${plane.endpointId}/run HTTP/1.1\r\nhost: x\r\n${authorization}${lines}\r\n\r\n${body}`
  const USERS = '"users":['

  // All at once: each waits until no more data arrives.
  test('[REST-33] is refused or answered as one request, however it is framed', async () => {
    const answers = await Promise.all(
      FRAMINGS.map(async ([what, frame]) => {
        const { lines, body } = frame(users(asOperator()))
        return [what, await sendRaw(plane.port, run(lines, body))] as const
      }),
    )
    for (const [what, answer] of answers) {
      expect(statusesOf(answer).length, what).toBeLessThanOrEqual(1)
      // For an invalid chunk, the runtime reports the same to the plane as for a lost connection.
      expect(answer, what).toMatch(what.startsWith('a chunk ') ? /^(HTTP\/1\.1 [45]|$)/ : /^(HTTP\/1\.1 (200|4\d\d) |$)/)
      expect(answer, what).not.toContain(USERS)
    }
    const alone = await sendRaw(plane.port, users(`${asOperator()}connection: close\r\n`), 20_000)
    expect(alone, 'the hidden one is a good request').toContain(USERS)
  })

  test('[API-4] [REST-33] no malformed request line shows data that needs a key', async () => {
    const lines: Record<string, string> = {
      'no host': 'GET /admin/v1/users HTTP/1.1\r\n\r\n',
      'no host, with a key': `GET /admin/v1/users HTTP/1.1\r\n${asOperator()}\r\n`,
      'two hosts': users('host: localhost\r\n'),
      CONNECT: `CONNECT 127.0.0.1:${plane.port} HTTP/1.1\r\nhost: x\r\n\r\n`,
      'CONNECT, and a request behind it': `CONNECT 127.0.0.1:${plane.port} HTTP/1.1\r\nhost: x\r\n\r\n${users(asOperator())}`,
      TRACE: `TRACE /admin/v1/users HTTP/1.1\r\nhost: x\r\n${asOperator()}\r\n`,
      'HTTP/2 without asking': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'HTTP/1.0': 'GET /admin/v1/users HTTP/1.0\r\n\r\n',
      'HTTP/0.9': 'GET /admin/v1/users\r\n\r\n',
      'a star': 'OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n',
      'a method in small letters': `get /admin/v1/users HTTP/1.1\r\nhost: x\r\n${asOperator()}\r\n`,
      'a key in a trailer': run(
        'transfer-encoding: chunked\r\ntrailer: authorization',
        `c\r\n{"input":{}}\r\n0\r\nauthorization: Bearer ${plane.apiKey}\r\n\r\n`,
        '',
      ),
    }
    const answers = await Promise.all(Object.entries(lines).map(async ([what, text]) => [what, await sendRaw(plane.port, text)] as const))
    for (const [what, answer] of answers) {
      expect(statusesOf(answer).length, what).toBeLessThanOrEqual(1)
      expect(answer, what).toMatch(/^(HTTP\/1\.[01] [45]|$)/)
      expect(answer, what).not.toContain(plane.operatorKey)
    }
  })

  test('[API-4] the key of the first of two valid requests does not apply to the second', async () => {
    const answer = await sendRaw(plane.port, run('content-length: 12', '{"input":{}}') + users('connection: close\r\n'), 20_000)
    expect([statusesOf(answer), answer.includes(USERS)]).toEqual([[200, 401], false])
  })
})

describe('a host or a header that contradicts the request line', () => {
  const ELSEWHERE = 'evil.example'
  const PUBLIC = ['/', '/console', '/console/pods', '/console/session', '/healthz', '/docs']

  test('[API-4] a host name that points here shows pages, and nothing that needs a key', async () => {
    const ask = async (path: string) => {
      const { status, headers } = await askWith('GET', path, { host: ELSEWHERE, origin: `http://${ELSEWHERE}` })
      return [path, status, /set-cookie|access-control|location/i.test(headers)]
    }
    expect(await Promise.all(PUBLIC.map(ask))).toEqual(PUBLIC.map((path) => [path, 200, false]))
    const guarded = ['/v2/user', '/v2/serverless', `/v2/${plane.endpointId}/health`, '/admin/v1/users', '/host/v1/tunnel']
    expect(await Promise.all(guarded.map(ask))).toEqual(guarded.map((path) => [path, 401, false]))
    expect((await askWith('POST', '/console/session', { host: ELSEWHERE, origin: `http://${ELSEWHERE}` })).status).toBe(403)
  })

  test.each([
    ['x-http-method-override', 'DELETE'],
    ['x-http-method', 'DELETE'],
    ['x-method-override', 'DELETE'],
    ['x-original-url', '/admin/v1/users'],
    ['x-original-uri', '/admin/v1/users'],
    ['x-rewrite-url', '/admin/v1/users'],
    ['x-forwarded-uri', '/admin/v1/users'],
    ['x-forwarded-path', '/admin/v1/users'],
    ['x-forwarded-prefix', '/admin/v1'],
    ['x-forwarded-host', ELSEWHERE],
    ['x-original-host', ELSEWHERE],
    ['x-host', ELSEWHERE],
    ['forwarded', `for=127.0.0.1;host=${ELSEWHERE};proto=https`],
    ['x-forwarded-for', '127.0.0.1'],
  ])('[API-4] %s: %s changes no answer', async (name, value) => {
    const odd = { [name]: value }
    const own = { authorization: `Bearer ${plane.apiKey}` }
    const received = ({ status, text }: Received) => [status, text]
    for (const path of ['/healthz', '/console', '/console/session', '/v2/user', '/admin/v1/users']) {
      expect(received(await askWith('GET', path, odd)), path).toEqual(received(await askWith('GET', path, {})))
    }
    for (const path of ['/v2/user', `/v2/serverless/${plane.endpointId}`, '/admin/v1/users']) {
      expect(received(await askWith('GET', path, { ...own, ...odd })), path).toEqual(received(await askWith('GET', path, own)))
    }
  })
})

describe('addressing', () => {
  const operations: [method: string, path: string, body?: string][] = [
    ['POST', 'run', '{"input":{}}'],
    ['POST', 'runsync', '{"input":{}}'],
    ['GET', `status/${UNKNOWN_JOB}`],
    ['GET', `status-sync/${UNKNOWN_JOB}?wait=1000`],
    ['GET', `stream/${UNKNOWN_JOB}?wait=1000`],
    ['POST', `cancel/${UNKNOWN_JOB}`],
    ['POST', `retry/${UNKNOWN_JOB}`],
    ['POST', 'purge-queue'],
    ['GET', 'health'],
  ]

  test.each(operations)('API-5: %s %s on a foreign endpoint answers exactly as on an unknown one', async (method, path, body) => {
    const options = { ...(body === undefined ? {} : { body }), key: otherTenantKey }
    const foreign = await call(method, path, options)
    const unknown = await call(method, path, { ...options, endpoint: 'nosuchendpoint' })
    expectProblem(foreign, 404)
    expect(foreign.text).toBe(unknown.text)
  })

  test.each(operations)('API-4: %s %s without a good key is 401', async (method, path, body) => {
    for (const authorization of ['', 'Bearer', 'Bearer wrong', 'Basic dTpw', plane.apiKey, `Bearer ${plane.apiKey}x`]) {
      expectProblem(await call(method, path, { ...(body === undefined ? {} : { body }), authorization }), 401)
    }
  })

  test.each(['status', 'status-sync', 'stream', 'cancel', 'retry'])('JOB-8: %s of an unknown job is 404', async (operation) => {
    for (const job of [UNKNOWN_JOB, 'x', '%00', '..%2f..%2fhealth', "1'--", 'a'.repeat(2_000)]) {
      const method = operation === 'cancel' || operation === 'retry' ? 'POST' : 'GET'
      const answer = await call(method, `${operation}/${job}`)
      expectProblem(answer, answer.status === 400 ? 400 : 404)
    }
  })

  test.each([
    ['GET', 'run', 'POST'],
    ['PUT', 'runsync', 'POST'],
    ['DELETE', `status/${UNKNOWN_JOB}`, 'GET, POST'],
    ['PATCH', `stream/${UNKNOWN_JOB}`, 'GET, POST'],
    ['GET', `cancel/${UNKNOWN_JOB}`, 'POST'],
    ['GET', 'purge-queue', 'POST'],
    ['POST', 'health', 'GET'],
  ])('API-1: %s %s is 405 and says what is allowed', async (method, path, allowed) => {
    const answer = await call(method, path)
    expectProblem(answer, 405)
    expect(answer.headers.get('allow')).toBe(allowed)
  })

  test('a path that does not exist is a JSON 404', async () => {
    for (const path of ['', 'nothing', 'run/extra', 'status', 'status/']) expectProblem(await call('GET', path), 404)
  })

  test('API-11: an unreadable wait means the default, and one out of range is clamped', async () => {
    const { body } = await call('POST', 'runsync?wait=30000', { body: '{"input":{"n":1}}' })
    for (const wait of ['abc', '', '-5', '0', '1e3', 'NaN', 'Infinity', '99999999999999999999', '1000&wait=2000']) {
      const answer = await call('GET', `status-sync/${body.id}?wait=${wait}`)
      expect([wait, answer.status, answer.body.status]).toEqual([wait, 200, 'COMPLETED'])
    }
    const startedAt = Date.now()
    expect((await call('GET', `status-sync/${UNKNOWN_JOB}?wait=-1`)).status).toBe(404)
    expect(Date.now() - startedAt, 'clamped, not the default').toBeLessThan(JOB_DEFAULTS.wait / 3)
  })
})

/** One call of the job API. A client of this plane's demo account unless `key` or `authorization` says otherwise. */
async function call(
  method: string,
  path: string,
  options: { body?: string | Uint8Array<ArrayBuffer>; key?: string; authorization?: string; endpoint?: string } = {},
): Promise<Answer> {
  const authorization = options.authorization ?? `Bearer ${options.key ?? plane.apiKey}`
  const response = await fetch(`${plane.url}/v2/${options.endpoint ?? plane.endpointId}/${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(authorization === '' ? {} : { authorization }) },
    ...(options.body === undefined ? {} : { body: options.body }),
  })
  const text = await response.text()
  expect(response.headers.get('content-type')).toMatch(/^application\/json\b/)
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as Record<string, unknown> }
}

/** API-6, INV-1: the shape of every error of the job API. */
function expectProblem(answer: Answer, status: number): void {
  expect([answer.status, answer.text.slice(0, 200)]).toEqual([status, expect.any(String)])
  expect(answer.body).toMatchObject({ status, title: expect.stringMatching(/./), detail: expect.stringMatching(/./) })
}

/** Number of jobs that the endpoint has accepted, whatever has become of them: those of earlier tests may end meanwhile. */
async function jobsEver(): Promise<number> {
  const states = Object.entries((await call('GET', 'health')).body.jobs as Record<string, number>)
  return states.reduce((sum, [state, count]) => (state === 'retried' ? sum : sum + count), 0)
}

/** A submit body of exactly this many bytes. */
function bodyOf(bytes: number): string {
  const frame = '{"input":{"data":""}}'
  return `${frame.slice(0, -3)}${'x'.repeat(bytes - frame.length)}${frame.slice(-3)}`
}

/** Calls with headers that `fetch` would not send. */
function askWith(method: string, path: string, headers: Record<string, string>): Promise<Received> {
  return new Promise((resolve, reject) => {
    const outgoing = request(plane.url + path, { method, headers, agent: false }, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: String(response.rawHeaders), text: Buffer.concat(pieces).toString() }),
      )
    })
    outgoing.once('error', reject)
    outgoing.end()
  })
}

/** Sends without a content length. The plane may answer before it has read everything. */
function sendChunked(path: string, body: string): Promise<{ status: number; type: string | undefined }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${plane.url}/v2/${plane.endpointId}/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${plane.apiKey}`, 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    })
    outgoing.once('response', (response) => {
      resolve({ status: response.statusCode ?? 0, type: response.headers['content-type']?.split(';')[0] })
      response.resume()
      outgoing.destroy()
    })
    outgoing.once('error', reject)
    outgoing.end(body)
  })
}
