import { request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { JOB_DEFAULTS } from '../../src/contract/defaults.ts'
import { callPlane, startPlane, type TestPlane } from './support/plane.ts'

// What a client may get wrong, over real HTTP: always JSON with the right status, never a 500.

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

let plane: TestPlane
let strangerKey: string

beforeAll(async () => {
  plane = await startPlane()
  const operator = plane.operatorKey
  const user = await callPlane<{ id: string }>(plane, operator, 'POST', '/admin/v1/users', { email: 'stranger@example.com' })
  strangerKey = (await callPlane<{ key: string }>(plane, operator, 'POST', `/admin/v1/users/${user.id}/keys`, { name: 'stranger' })).key
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

describe('lines and framing that are no HTTP', () => {
  const line = (target: string, framing = 'content-length: 12') => `POST ${target} HTTP/1.1\r\nhost: x\r\n${framing}\r\n`

  test.each([
    ['a target without a slash', (path: string) => line(path.slice(1))],
    ['a length that is no number', (path: string) => line(path, 'content-length: twelve')],
    ['a negative length', (path: string) => line(path, 'content-length: -12')],
    ['two lengths', (path: string) => line(path, 'content-length: 12\r\ncontent-length: 13')],
    ['a chunk without a size', (path: string) => line(path, 'transfer-encoding: chunked')],
  ])('[L3] [PP-216] %s: an error, nothing is done, and the next connection is served', async (_what, head) => {
    const before = (await call('GET', 'health')).body.jobs
    const path = `/v2/${plane.endpointId}/run`
    const answer = await sendRaw(`${head(path)}authorization: Bearer ${plane.apiKey}\r\n\r\n{"input":{}}`)
    expect(answer).toMatch(/^(HTTP\/1\.1 [45]|$)/)
    expect((await call('GET', 'health')).body.jobs).toEqual(before)
  })

  test('[PP-216] a target in absolute form is its path, whatever host it names', async () => {
    const path = `/v2/${plane.endpointId}/run`
    const answer = await sendRaw(`${line(`http://elsewhere.example.com${path}`)}authorization: Bearer ${plane.apiKey}\r\n\r\n{"input":{}}`)
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(answer).toContain('"IN_QUEUE"')
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
    const options = { ...(body === undefined ? {} : { body }), key: strangerKey }
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

/** A submit of exactly that many bytes. */
function bodyOf(bytes: number): string {
  const frame = '{"input":{"data":""}}'
  return `${frame.slice(0, -3)}${'x'.repeat(bytes - frame.length)}${frame.slice(-3)}`
}

/** Sends without a content length. The plane may answer before it has read everything. */
/** What comes back on a connection of its own until it ends or nothing more comes. */
function sendRaw(text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(plane.port, '127.0.0.1')
    let answer = ''
    socket.setTimeout(2_000, () => socket.destroy())
    socket.on('data', (data) => {
      answer += data
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer))
    socket.write(text)
  })
}

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
