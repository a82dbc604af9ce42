import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { silentLog } from '../../../src/host-agent/log.ts'
import { RelayCallers } from '../../../src/host-agent/relay/admission/callers.ts'
import { WorkloadRates } from '../../../src/host-agent/relay/admission/workload-rates.ts'
import type { RelayBounds } from '../../../src/host-agent/relay/bounds.ts'
import { Pacer } from '../../../src/host-agent/relay/pacer.ts'
import { startRelay } from '../../../src/host-agent/relay/relay.ts'
import { RelayRoom } from '../../../src/host-agent/relay/room.ts'
import { Slots } from '../../../src/host-agent/slots.ts'
import { waitUntil } from '../../support/time.ts'
import { admitOne, admitted, keyOf } from '../support/callers.ts'
import { tempDir } from '../support/temp-dir.ts'
import { makeWorkload, workerEnv } from '../support/workload.ts'

/** The containers of a host. The first is a victim's, the second an attacker's. */
const ADDRESSES: Record<string, string> = { w1: '127.0.0.2', w2: '127.0.0.3' }

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A plane that records its requests, and answers only those that `isHeld` does not hold. */
async function openPlane(isHeld: (url: string) => boolean = () => false) {
  const asked: string[] = []
  const held: ServerResponse[] = []
  const sockets = new Set<Socket>()
  const server = createServer((incoming, response) => {
    asked.push(`${incoming.headers.authorization} ${incoming.url}`)
    if (isHeld(incoming.url ?? '')) return void held.push(response)
    incoming.resume().on('end', () => response.end('{}'))
  })
  server.on('connection', (socket) => sockets.add(socket).size && socket.on('close', () => sockets.delete(socket)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const release = () => {
    for (const response of held.splice(0)) response.end('{}')
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, held, sockets, release }
}

async function openRelay(planeUrl: string, more: Partial<RelayBounds> = {}) {
  const callers = admitted(Object.keys(ADDRESSES), async (id) => (ADDRESSES[id] === undefined ? [] : [ADDRESSES[id]]))
  const spoolDir = tempDir('door')
  const bounds = { spoolAfterMs: 200, retryBaseMs: 10, retryMaxMs: 50, refusalDelayMs: 1, ...more }
  const relay = await startRelay({ planeUrl, address: '127.0.0.1', callers, bounds, log: silentLog(), spoolDir })
  cleanups.push(() => relay.close())
  return { port: relay.port, callers, spoolDir }
}

interface Asked {
  from: string
  key?: string | undefined
  path: string
  body?: string
}

/** One request on a connection of its own. */
async function ask(port: number, { from, key, path, body }: Asked) {
  const headers = { ...(key === undefined ? {} : { authorization: key }) }
  const options = { host: '127.0.0.1', localAddress: from, port, path, method: body === undefined ? 'GET' : 'POST', headers, agent: false }
  const outgoing = request(options)
  outgoing.end(body)
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const { statusCode: status, headers: answered } = response
  return { status, body: await text(response), connection: answered.connection, socket: response.socket }
}

function closed(socket: Socket): Promise<void> {
  socket.on('error', () => {})
  return new Promise((resolve) => socket.once('close', () => resolve()))
}

const victim = { from: '127.0.0.2', key: keyOf('w1') }

describe('the callers that are served', () => {
  test.each<[string, Asked]>([
    ['no key', { from: '127.0.0.3', path: '/v2/ep/ping/w1' }],
    ['an unknown key', { from: '127.0.0.3', key: keyOf('w9'), path: '/v2/ep/ping/w1' }],
    ['another’s key from its own address', { from: '127.0.0.3', key: keyOf('w1'), path: '/v2/ep/ping/w1' }],
    ['the key of a worker from an unknown address', { from: '127.0.0.4', key: keyOf('w1'), path: '/v2/ep/job-take/w1' }],
    ['its own key under another’s name', { from: '127.0.0.3', key: keyOf('w2'), path: '/v2/ep/ping/w1' }],
    ['a post under another’s name', { from: '127.0.0.3', key: keyOf('w2'), path: '/v2/ep/job-done/w1/j1', body: '{"output":1}' }],
    ['a post without a key', { from: '127.0.0.3', path: '/v2/ep/job-done/w1/j1', body: '{"output":1}' }],
    ['a line in absolute form', { from: '127.0.0.3', path: 'http://127.0.0.1/v2/ep/ping/w1' }],
    ['no route', { from: '127.0.0.3', path: '/' }],
    ['a key of a megabyte’s kind', { from: '127.0.0.3', key: 'x'.repeat(8_000), path: '/v2/ep/ping/w1' }],
  ])('[H1] [HOST-75] %s: 401, the connection ends, nothing is kept, the plane hears nothing', async (_, asked) => {
    const plane = await openPlane()
    const { port, spoolDir } = await openRelay(plane.url)
    const answer = await ask(port, asked)
    expect([answer.status, answer.connection]).toEqual([401, 'close'])
    await waitUntil('the connection has ended', () => answer.socket.destroyed)
    expect(plane.asked).toEqual([])
    expect(readdirSync(spoolDir)).toEqual([])
    expect((await ask(port, { ...victim, path: '/v2/ep/ping/w1' })).status).toBe(200)
    expect(plane.asked).toEqual([`${keyOf('w1')} /v2/ep/ping/w1`])
  })

  test('[HOST-75] a container that has ended is unknown, also when another one gets its address', async () => {
    const plane = await openPlane()
    const { port, callers } = await openRelay(plane.url)
    callers.release('w1')
    admitOne(callers, 'w3')
    ADDRESSES.w3 = '127.0.0.2'
    cleanups.push(() => delete ADDRESSES.w3)
    expect((await ask(port, { ...victim, path: '/v2/ep/ping/w1' })).status).toBe(401)
    expect((await ask(port, { from: '127.0.0.2', key: keyOf('w3'), path: '/v2/ep/ping/w3' })).status).toBe(200)
  })

  test('[HOST-75] a worker is identified by the engine, which is queried once; an unknown key is checked with the plane', async () => {
    let asked = 0
    const callers = new RelayCallers(async () => {
      asked += 1
      return ['10.0.0.2']
    })
    callers.admit('w1', undefined)
    expect(await callers.identify('10.0.0.2', keyOf('w1'))).toBeUndefined()
    const platformEnv = { ...workerEnv('ep', 'w1'), RUNPOD_AI_API_KEY: keyOf('w1') }
    callers.update([makeWorkload({ id: 'w1', kind: 'worker', platformEnv }), makeWorkload({ id: 'w2', kind: 'worker', platformEnv })])
    expect(await Promise.all([1, 2, 3].map(() => callers.identify('::ffff:10.0.0.2', `Bearer ${keyOf('w1')}`)))).toEqual(['w1', 'w1', 'w1'])
    expect([asked, callers.count]).toEqual([1, 1])
    expect(await callers.identify('10.0.0.3', keyOf('w1'))).toBeUndefined()
  })

  test('[HOST-75] on loopback the key alone identifies the caller, and callers without one are refused', async () => {
    const callers = admitted(['w1'])
    expect(await callers.identify('127.0.0.1', keyOf('w1'))).toBe('w1')
    expect(await callers.identify('127.0.0.1', keyOf('w2'))).toBeUndefined()
    expect(await callers.identify('172.17.0.2', keyOf('w1'))).toBeUndefined()
  })
})

describe('the bounds of a caller', () => {
  test('[H1] [HOST-76] a thousand pings under arbitrary names displace no ping of a worker', async () => {
    const plane = await openPlane((url) => url.includes('/ping/'))
    const { port } = await openRelay(plane.url, { refusalDelayMs: 200 })
    const flood = Array.from({ length: 1_001 }, (_, n) =>
      ask(port, { from: '127.0.0.1', key: `nonsense-${n}`, path: `/v2/x${n}/ping/w${n}` }).catch(() => undefined),
    )
    expect((await ask(port, { ...victim, path: '/v2/ep/ping/w1?job_id=j1' })).status).toBe(200)
    expect(plane.asked).toEqual([`${keyOf('w1')} /v2/ep/ping/w1?job_id=j1`])
    plane.release()
    await Promise.all(flood)
  })

  test('[M2] [HOST-76] a connection with 2000 pipelined polls is ended; descriptors and memory stay where they were', async () => {
    const plane = await openPlane((url) => url.includes('/w2'))
    const { port } = await openRelay(plane.url)
    const filesBefore = readdirSync('/proc/self/fd').length
    const memoryBefore = process.memoryUsage.rss()
    const flood = connect({ host: '127.0.0.1', port, localAddress: '127.0.0.3' })
    const ended = closed(flood)
    let filesMost = 0
    const watch = setInterval(() => {
      filesMost = Math.max(filesMost, readdirSync('/proc/self/fd').length)
    }, 1)
    flood.write(`GET /v2/ep/job-take/w2 HTTP/1.1\r\nhost: relay\r\nauthorization: ${keyOf('w2')}\r\n\r\n`.repeat(2_000))
    await ended
    expect((await ask(port, { ...victim, path: '/v2/ep/ping/w1' })).status).toBe(200)
    clearInterval(watch)
    expect(plane.asked.filter((line) => line.includes('w2')).length).toBeLessThanOrEqual(1)
    expect(filesMost - filesBefore).toBeLessThan(20)
    expect(process.memoryUsage.rss() - memoryBefore).toBeLessThan(100 * 2 ** 20)
  })

  test('[M2] [HOST-76] polls on many connections: a bounded part goes to the plane, and those of another worker at once', async () => {
    const plane = await openPlane((url) => url.includes('/w2'))
    const { port } = await openRelay(plane.url, { callerMaxUpstream: 5 })
    const polls = Array.from({ length: 200 }, () => ask(port, { from: '127.0.0.3', key: keyOf('w2'), path: '/v2/ep/job-take/w2' }))
    await waitUntil('its part is under way', () => plane.held.length === 5)
    expect((await ask(port, { ...victim, path: '/v2/ep/job-take/w1' })).status).toBe(200)
    expect([plane.held.length, plane.sockets.size]).toEqual([5, 6])
    while (plane.held.length > 0) {
      plane.release()
      await new Promise((resolve) => setImmediate(resolve))
    }
    const pump = setInterval(() => plane.release(), 1)
    expect(new Set((await Promise.all(polls)).map(({ status }) => status))).toEqual(new Set([200]))
    clearInterval(pump)
  })

  test('[HOST-76] an unknown address has few connections', async () => {
    const plane = await openPlane()
    const { port } = await openRelay(plane.url, { unknownCallerMaxConnections: 2 })
    const open = () => connect({ host: '127.0.0.1', port, localAddress: '127.0.0.4' })
    const sockets = [open(), open()]
    cleanups.push(() => sockets.map((socket) => socket.destroy()))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    await closed(open())
    expect((await ask(port, { ...victim, path: '/v2/ep/ping/w1' })).status).toBe(200)
  })

  test('[HOST-76] a caller with too many requests waits; others do not', () => {
    const rates = new WorkloadRates(10)
    const delays = Array.from({ length: 13 }, () => Math.round(rates.delayMs('w2', 5_000)))
    expect(delays).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 200, 300])
    expect(rates.delayMs('w1', 5_000)).toBe(0)
    expect(rates.delayMs('w2', 6_300)).toBe(0)
  })

  test('[HOST-76] a place goes to the next of the same workload, and not to one that has given up', async () => {
    const places = new Slots(() => 1)
    const never = new AbortController().signal
    const first = await places.enter('w1', never)
    const gone = new AbortController()
    const events: string[] = []
    const impatient = places.enter('w1', gone.signal).then((leave) => events.push(`impatient ${leave === undefined}`))
    const second = places.enter('w1', never).then((leave) => {
      events.push('second')
      return leave
    })
    expect(await places.enter('w2', never)).toBeDefined()
    gone.abort()
    await impatient
    first?.()
    first?.()
    await second
    expect(events).toEqual(['impatient true', 'second'])
    const third = places.enter('w1', never)
    ;(await second)?.()
    expect(await third).toBeDefined()
  })

  test('[HOST-26] four greedy workloads leave a fifth its part', () => {
    const room = new RelayRoom(1_000, () => 5)
    for (const greedy of ['a', 'b', 'c', 'd']) while (room.fits(greedy, 10)) room.take(greedy, 10)
    expect(room.taken).toBeLessThanOrEqual(900)
    expect([room.fits('victim', 100), room.fits('victim', 110)]).toEqual([true, false])
    room.take('victim', 100)
    expect(room.taken).toBeLessThanOrEqual(1_000)
    room.giveBack('a', 250)
    expect(room.fits('victim', 150)).toBe(true)
    expect(room.fits('victim', 160)).toBe(false)
  })

  test('[HOST-26] posts on disk are delivered by turns: a thousand of one worker do not delay those of another', async () => {
    const pacer = new Pacer({ deliverers: 1, retryBaseMs: 1, retryMaxMs: 1 })
    const order: string[] = []
    const deliver = async (caller: string) => {
      await pacer.enter(caller)
      order.push(caller)
      pacer.leave()
    }
    await pacer.enter('greedy')
    const all = [...Array.from({ length: 1_000 }, () => deliver('greedy')), deliver('victim')]
    pacer.leave()
    await Promise.all(all)
    expect(order.indexOf('victim')).toBeLessThan(3)
  })
})
