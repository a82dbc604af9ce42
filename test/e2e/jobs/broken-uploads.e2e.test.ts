import type { RequestListener } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { waitUntil } from '../../support/time.ts'
import { ServingHost } from '../support/agent/serving-host.ts'
import { callPlane, eventually, startPlane, type TestPlane } from '../support/plane/plane.ts'

// The view of a workload on interrupted uploads: a real plane, and a host's own link and tunnel.

/** The data that the workload has read of each upload, and how each ended, by path. */
const read = new Map<string, string>()
const heard = new Map<string, string>()

const serve: RequestListener = (request, response) => {
  const { url = '' } = request
  request.on('data', (bytes) => read.set(url, (read.get(url) ?? '') + bytes))
  request.on('end', () => response.end('thanks'))
  request.on('error', () => undefined)
  request.on('close', () => heard.set(url, `${request.complete ? 'whole' : 'broken'} ${read.get(url)}`))
}

let plane: TestPlane
let host: ServingHost
let places: Record<'endpoint' | 'pod', string>

beforeAll(async () => {
  plane = await startPlane({ args: ['--no-agent'] })
  host = await ServingHost.join(plane, 'serving', serve)
  const make = (path: string, body: object) => callPlane<{ id: string }>(plane, plane.apiKey, 'POST', path, body)
  const image = 'registry.example/app:1'
  const { id: endpoint } = await make('/v2/serverless', {
    name: 'balanced',
    type: 'LOAD_BALANCER',
    image,
    gpu: { pools: ['AMPERE_24'] },
    workers: { min: 1, max: 1, idleTimeout: 600 },
  })
  const { id: pod } = await make('/v2/pods', { name: 'p', image, cpu: { id: 'cpu3c', vcpuCount: 2 }, disk: 1, ports: ['80/http'] })
  places = { endpoint: `/lb/${endpoint}`, pod: `/proxy/${pod}/80` }
  for (const [name, place] of Object.entries(places)) {
    const headers = { authorization: `Bearer ${plane.apiKey}` }
    await eventually(name, 30_000, async () => (await fetch(`${plane.url}${place}/`, { headers })).status === 200)
  }
})
afterAll(async () => {
  await host?.close()
  await plane?.stop()
})

const CHUNKED = 'transfer-encoding: chunked'
const ENDS = {
  closes: (socket: ReturnType<typeof connect>) => socket.destroy(),
  'closes its half': (socket: ReturnType<typeof connect>) => socket.end(),
  resets: (socket: ReturnType<typeof connect>) => socket.resetAndDestroy(),
  finishes: (socket: ReturnType<typeof connect>) => socket.write('0\r\n\r\n'),
}

/** Sends the beginning of an upload, and ends it once the workload has read the beginning. */
async function upload(place: string, path: string, frame: string, text: string, end: (socket: ReturnType<typeof connect>) => unknown) {
  const socket = connect({ port: plane.port, host: '127.0.0.1', allowHalfOpen: true })
  let answer = ''
  socket.on('data', (bytes) => {
    answer += bytes
  })
  socket.on('error', () => undefined)
  socket.write(`POST ${place}${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${plane.apiKey}\r\n${frame}\r\n\r\n${text}`)
  await waitUntil('the workload has the beginning', () => read.get(path) === 'hello')
  end(socket)
  await waitUntil('the workload has heard the end', () => heard.has(path))
  await waitUntil('the client has heard it', () => socket.destroyed || answer !== '' || socket.readableEnded)
  socket.destroy()
  return { heard: heard.get(path), status: answer.split(' ')[1] }
}

describe.each(['endpoint', 'pod'] as const)('an upload to a workload of one %s', (kind) => {
  test.each([
    ['closes', 'in chunks', CHUNKED, '5\r\nhello\r\n', 'broken hello'],
    ['closes', 'within a chunk', CHUNKED, 'ff\r\nhello', 'broken hello'],
    ['closes its half', 'in chunks', CHUNKED, '5\r\nhello\r\n', 'broken hello'],
    ['resets', 'in chunks', CHUNKED, '5\r\nhello\r\n', 'broken hello'],
    ['closes', 'of a length', 'content-length: 200000', 'hello', 'broken hello'],
    ['finishes', 'in chunks', CHUNKED, '5\r\nhello\r\n', 'whole hello'],
  ] as const)('[LB-1] ends for the workload as its client %s, %s', async (how, what, frame, text, expected) => {
    const path = `/${kind}/${how}/${what}`.replaceAll(' ', '-')
    const seen = await upload(places[kind], path, frame, text, ENDS[how])
    expect(seen.heard).toBe(expected)
    if (how === 'finishes') expect(seen.status).toBe('200')
    if (how === 'closes its half' && kind === 'endpoint') expect(seen.status).toBe('400')
  })
})
