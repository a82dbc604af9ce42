import { encodeRecord, RecordReader, type SocketRecord } from '../../../src/host-protocol/tunnel/socket-records.ts'
import { STREAM_CHECKS } from '../../../src/http/watched/watched-stream.ts'
import { admin, afterEach, beforeEach, createKey, describe, env, expect, it, runInDurableObject, send } from '../../support/harness.ts'
import type { Serve } from '../../support/hosts/fake-tunnel.ts'
import { openRequests, type Scene, setUp, startWorker } from '../../support/queue/balancer-scene.ts'
import { endpointStub } from '../../support/runner/stubs.ts'
import { until } from '../../support/time.ts'

const PREVIOUS = { ...STREAM_CHECKS }
beforeEach(() => Object.assign(STREAM_CHECKS, { everyMs: 20, maxAgeMs: 0 }))
afterEach(() => void Object.assign(STREAM_CHECKS, PREVIOUS))

/** A worker that echoes every message and records how its WebSockets end. */
function echoSockets(ends: SocketRecord[]): Serve {
  return async ({ stream }) => {
    stream.accept()
    stream.sendHead({ status: 101, headers: [] })
    const reader = new RecordReader()
    for (let bytes = await stream.read(); bytes !== null; bytes = await stream.read()) {
      for (const record of reader.push(bytes)) {
        if (record.kind === 'close') ends.push(record)
        else await stream.write(encodeRecord(record) ?? new Uint8Array())
      }
    }
  }
}

async function openSocket(scene: Scene, key: string) {
  const answer = await send(`/lb/${scene.endpointId}/`, { headers: { Authorization: `Bearer ${key}`, Upgrade: 'websocket' } })
  const socket = answer.webSocket
  if (answer.status !== 101 || !socket) throw new Error(`no WebSocket: ${answer.status}`)
  const seen = { messages: [] as unknown[], closed: null as null | { code: number; reason: string } }
  socket.binaryType = 'arraybuffer'
  socket.accept()
  socket.addEventListener('message', ({ data }) => void seen.messages.push(data))
  socket.addEventListener('close', ({ code, reason }) => {
    seen.closed = { code, reason }
  })
  return { socket, seen }
}

describe('a WebSocket to a worker', () => {
  it('[LB-22, DER-42] ends on both sides once its key is revoked; another key keeps its own', async () => {
    const ends: SocketRecord[] = []
    const scene = await setUp({ workers: { min: 1, max: 1 } }, echoSockets(ends))
    await startWorker(scene)
    const doomed = await createKey(scene.account.userId)
    const [first, second] = [await openSocket(scene, doomed.key), await openSocket(scene, scene.account.key)]
    for (const { socket } of [first, second]) socket.send('hello')
    await until(() => first.seen.messages.length + second.seen.messages.length === 2)
    expect([first.seen, second.seen]).toEqual([
      { messages: ['hello'], closed: null },
      { messages: ['hello'], closed: null },
    ])
    expect((await admin().delete(`/admin/v1/keys/${doomed.id}`)).status).toBe(204)
    const reason = 'the key or session that opened this connection is not valid'
    await until(() => first.seen.closed !== null && ends.length > 0)
    expect([first.seen.closed, ends]).toEqual([{ code: 1008, reason }, [{ kind: 'close', code: 1008, reason }]])
    second.socket.send(new Uint8Array([1, 2, 3]))
    await until(() => second.seen.messages.length === 2)
    expect(second.seen.messages[1]).toEqual(new Uint8Array([1, 2, 3]).buffer)
    second.socket.close(4_000, 'enough')
    await until(() => ends.length === 2)
    expect(ends[1]).toEqual({ kind: 'close', code: 4_000, reason: 'enough' })
  })

  it('[LB-22] is checked often enough for a limit of a minute', () => {
    expect(PREVIOUS.everyMs + PREVIOUS.maxAgeMs).toBeLessThanOrEqual(60_000)
  })
})

describe('a long response of a worker', () => {
  const LONG = 2 * 1_048_576
  it.each([
    ['of no known length', []],
    ['of a length', [['Content-Length', String(LONG)]]],
  ] as const)(
    '[LB-22, DER-42] %s breaks off on both sides once its key is revoked; that of another key continues',
    async (_what, given) => {
      const headers = given.map(([name, value]): [string, string] => [name, value])
      const serve: Serve = async ({ stream }) => {
        stream.accept()
        stream.sendHead({ status: 200, headers: [['Content-Type', 'application/octet-stream'], ...headers] })
        await stream.write(new Uint8Array([1, 2, 3]))
      }
      const scene = await setUp({ workers: { min: 1, max: 1 } }, serve)
      await startWorker(scene)
      const doomed = await createKey(scene.account.userId)
      const open = async (key: string) => {
        const answer = await send(`/lb/${scene.endpointId}/`, { headers: { Authorization: `Bearer ${key}` } })
        expect(answer.status).toBe(200)
        const reader = answer.body?.getReader()
        expect((await reader?.read())?.value).toEqual(new Uint8Array([1, 2, 3]))
        return reader
      }
      const [first, second] = [await open(doomed.key), await open(scene.account.key)]
      expect((await admin().delete(`/admin/v1/keys/${doomed.id}`)).status).toBe(204)
      await expect(first?.read()).rejects.toThrow()
      await until(async () => (await openRequests(scene)).inFlight === 1)
      await second?.cancel()
      await until(async () => (await openRequests(scene)).inFlight === 0)
    },
  )
})

describe('[LB-21] a suspended account', () => {
  it('has no requests to workers: waiting ones are refused, the worker ends at once, new ones are 403', async () => {
    const scene = await setUp({ workers: { min: 1, max: 1 }, scaling: { type: 'REQUEST_COUNT', requestCount: 1 } }, ({ stream }) =>
      stream.accept(),
    )
    const worker = await startWorker(scene)
    const held = scene.ask('/')
    await until(() => scene.tunnel.served.length === 1)
    const waiting = scene.ask('/')
    await until(async () => (await openRequests(scene)).waiting === 1)
    expect((await admin().post(`/admin/v1/users/${scene.account.userId}/suspend`)).status).toBe(200)
    const refused = await waiting
    expect([refused.status, await refused.json()]).toEqual([
      403,
      expect.objectContaining({ detail: expect.stringContaining('suspended by the operator') }),
    ])
    const stopped = await scene.host.waitFor((one) => one.id === worker && one.desired === 'stopped')
    expect(stopped.stopGraceMs).toBe(0)
    expect((await scene.ask('/')).status).toBe(403)
    // An isolate that has cached the key reaches no worker either.
    const slot = await runInDurableObject(endpointStub(env, scene.endpointId), (object) =>
      object.core.slots.take('a', () => undefined, new AbortController().signal, 10),
    )
    expect(slot).toBeNull()
    for (const { stream } of scene.tunnel.served) stream.reset({ code: 'broken', detail: 'its container ended' })
    expect((await held).status).toBe(502)
  })
})

describe('[LB-23] a CORS preflight request', () => {
  const asks = (scene: Scene, headers: Record<string, string> = {}) =>
    send(`/lb/${scene.endpointId}/v1/generate`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'POST', ...headers },
    })

  it('is permitted without a key, and starts no worker', async () => {
    const scene = await setUp()
    const answer = await asks(scene, { 'Access-Control-Request-Headers': 'authorization,content-type' })
    const received = [
      'access-control-allow-origin',
      'access-control-allow-methods',
      'access-control-allow-headers',
      'access-control-max-age',
    ]
    expect([answer.status, ...received.map((name) => answer.headers.get(name))]).toEqual([
      204,
      '*',
      'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      'authorization,content-type',
      '600',
    ])
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    expect(await openRequests(scene)).toEqual({ inFlight: 0, waiting: 0 })
    expect(scene.tunnel.served).toEqual([])
  })

  it('gets the same reply for an unknown endpoint, and lets the browser read replies of the plane', async () => {
    const scene = await setUp()
    expect((await asks({ ...scene, endpointId: 'nosuchendpoint' })).status).toBe(204)
    const refused = await send(`/lb/${scene.endpointId}/`, { headers: { Origin: 'https://app.example' } })
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, '*'])
  })

  it("a plain OPTIONS is an ordinary request: with a key it reaches the worker, and the worker's CORS headers pass", async () => {
    const scene = await setUp({ workers: { min: 1, max: 1 } }, async ({ stream }) => {
      stream.accept()
      stream.sendHead({ status: 204, headers: [['access-control-allow-origin', 'https://app.example']] })
      stream.end()
    })
    await startWorker(scene)
    const answer = await asks(scene, { Authorization: `Bearer ${scene.account.key}` })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, 'https://app.example'])
    expect((await send(`/lb/${scene.endpointId}/`, { method: 'OPTIONS' })).status).toBe(401)
  })
})
