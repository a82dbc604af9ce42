import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { waitUntil } from '../../support/time.ts'
import { ServingHost } from '../support/agent/serving-host.ts'
import { callPlane, eventually, startPlane, type TestPlane } from '../support/plane/plane.ts'

// State that clients leave behind on a machine when they close their connections, observed by its workloads; a real plane, and a host's own
// link and tunnel.

/** Milliseconds within which the stream of a disconnected client ends. */
const GONE_WITHIN_MS = 10_000
const ALONE = 672

const serve: RequestListener = ({ url = '' }, response) => {
  if (url.startsWith('/never')) return
  const isEvents = url.startsWith('/events')
  if (isEvents || url.startsWith('/silent')) {
    response.writeHead(200, { 'content-type': isEvents ? 'text/event-stream' : 'text/plain' })
    response.write(isEvents ? 'data: first\n\n' : 'first\n')
    if (url.endsWith('?later')) setTimeout(() => response.end(isEvents ? 'data: last\n\n' : 'last\n'), 13_000)
    return
  }
  response.end('hello')
}

let plane: TestPlane
let host: ServingHost
let victim: { key: string; pod: string; endpoint: string }
let attacker: { key: string; pods: string[] }
const sockets: Socket[] = []

beforeAll(async () => {
  plane = await startPlane({ args: ['--no-agent'] })
  host = await ServingHost.join(plane, 'serving', serve)
  const [owner, other] = [plane.apiKey, await newAccount('other@example.com')]
  const { id: endpoint } = await callPlane<{ id: string }>(plane, owner, 'POST', '/v2/serverless', {
    name: 'balanced',
    type: 'LOAD_BALANCER',
    image: 'registry.example/app:1',
    gpu: { pools: ['AMPERE_24'] },
    workers: { min: 1, max: 1, idleTimeout: 600 },
  })
  victim = { key: owner, pod: await runPod(owner), endpoint }
  attacker = { key: other, pods: [] }
  for (let number = 0; number < 6; number += 1) attacker.pods.push(await runPod(other))
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await host?.close()
  await plane?.stop()
})

async function newAccount(email: string): Promise<string> {
  const user = await callPlane<{ id: string }>(plane, plane.operatorKey, 'POST', '/admin/v1/users', { email })
  return (await callPlane<{ key: string }>(plane, plane.operatorKey, 'POST', `/admin/v1/users/${user.id}/keys`, { name: 'k' })).key
}

async function runPod(key: string): Promise<string> {
  const body = { name: 'p', image: 'registry.example/app:1', cpu: { id: 'cpu3c', vcpuCount: 2 }, disk: 1, ports: ['80/http'] }
  const { id } = await callPlane<{ id: string }>(plane, key, 'POST', '/v2/pods', body)
  await eventually('it runs', 30_000, async () => {
    const { status } = await callPlane<{ status: string }>(plane, key, 'GET', `/v2/pods/${id}`)
    return status === 'RUNNING'
  })
  return id
}

/** A client that sends one request, and the text that it received. */
function visit(pod: string, path: string): { socket: Socket; text(): string } {
  const socket = connect(plane.port, '127.0.0.1')
  sockets.push(socket)
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes
  })
  socket.on('error', () => undefined)
  socket.write(`GET /proxy/${pod}/80${path} HTTP/1.1\r\nHost: plane\r\n\r\n`)
  return { socket, text: () => text }
}

const visitAll = (path: string, each: number) => attacker.pods.flatMap((pod) => Array.from({ length: each }, () => visit(pod, path)))
const openAt = (path: string) => host.open.get(path) ?? 0
const allGone = (path: string) => waitUntil(`nothing is open at ${path}`, () => openAt(path) === 0, GONE_WITHIN_MS)

/** The answers to the other account on the machine. */
async function served(): Promise<unknown[]> {
  const headers = { authorization: `Bearer ${victim.key}` }
  const page = await fetch(`${plane.url}/proxy/${victim.pod}/80/`)
  const balanced = await fetch(`${plane.url}/lb/${victim.endpoint}/`, { headers })
  const terminal = new WebSocket(`${plane.url.replace('http', 'ws')}/v2/pods/${victim.pod}/exec`, { headers })
  const [data] = (await once(terminal, 'message')) as [Buffer]
  terminal.terminate()
  return [page.status, await page.text(), balanced.status, await balanced.text(), data.subarray(1).toString()]
}
const SERVED = [200, 'hello', 200, 'hello', 'hello']

describe('clients that have closed their connections', () => {
  test('[S16] [SHR-30, SHR-32] six pods with 128 silent requests each leave another account its page, terminal and endpoint; a reset ends them', async () => {
    await eventually('a worker', 30_000, async () => (await served())[2] === 200)
    expect(await served()).toEqual(SERVED)
    const visits = visitAll('/never', 128)
    await waitUntil(
      'all are answered or open',
      () => openAt('/never') + visits.filter(({ text }) => text() !== '').length === visits.length,
      60_000,
    )
    expect([openAt('/never'), visits.filter(({ text }) => text().startsWith('HTTP/1.1 503')).length]).toEqual([
      ALONE,
      visits.length - ALONE,
    ])
    expect(await served()).toEqual(SERVED)
    for (const { socket } of visits) socket.resetAndDestroy()
    await allGone('/never')
    await waitUntil('no command', () => host.commands === 0, GONE_WITHIN_MS)
    expect(await served()).toEqual(SERVED)
  })

  test('[S16] [SHR-32] silent event streams end with their clients, however these close', async () => {
    const visits = visitAll('/events', 20)
    await waitUntil('all have heard', () => visits.every(({ text }) => text().includes('data: first')), 60_000)
    expect(openAt('/events')).toBe(visits.length)
    for (const { socket } of visits) socket.destroy()
    await allGone('/events')
  })

  test.each(['/socket', '/deaf'])(
    '[S16] [SHR-32] a WebSocket to %s ends with its client, also where the workload does not close',
    async (path) => {
      const [pod = ''] = attacker.pods
      const clients = Array.from({ length: 20 }, () => new WebSocket(`${plane.url.replace('http', 'ws')}/proxy/${pod}/80${path}`))
      await Promise.all(clients.map((client) => once(client, 'open')))
      expect(openAt(path)).toBe(clients.length)
      for (const client of clients) client.terminate()
      await allGone(path)
    },
  )

  test('[SHR-32] silent answers of connected clients continue: events with comments between them, others unchanged', async () => {
    const [events, other] = [visit(victim.pod, '/events?later'), visit(victim.pod, '/silent?later')]
    await waitUntil('both have ended', () => [events, other].every(({ text }) => text().includes('last')), 30_000)
    const chunks = (text: string) =>
      text
        .slice(text.indexOf('\r\n\r\n') + 4)
        .split('\r\n')
        .filter((_, at) => at % 2 === 1)
    expect(chunks(other.text()).filter(Boolean)).toEqual(['first\n', 'last\n'])
    const said = chunks(events.text()).filter(Boolean)
    expect([said.at(0), said.at(-1), new Set(said.slice(1, -1))]).toEqual(['data: first\n\n', 'data: last\n\n', new Set([':\n\n'])])
  })
})
