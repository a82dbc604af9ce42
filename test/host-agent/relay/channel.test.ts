import { afterEach, describe, expect, test } from 'vitest'
import { silentLog } from '../../../src/host-agent/log.ts'
import type { RelayBounds } from '../../../src/host-agent/relay/bounds.ts'
import { startRelay } from '../../../src/host-agent/relay/relay.ts'
import { until } from '../../support/time.ts'
import { admitted, asWorker, keyOf } from '../support/callers.ts'
import { ChannelPlane } from '../support/channel-plane.ts'
import { tempDir } from '../support/temp-dir.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

interface Scene {
  plane: ChannelPlane
  invalidated: string[]
  /** Calls the relay as a worker; the path begins with the verb. */
  call(path: string, init?: RequestInit): Promise<Response>
  /** Takes until there is a job. */
  takeJob(): Promise<string>
}

async function scene(more: Partial<RelayBounds> = {}): Promise<Scene> {
  const plane = new ChannelPlane()
  const planeUrl = await plane.open()
  cleanups.push(() => plane.close())
  const invalidated: string[] = []
  const tokens = { get: async () => 'host-token', invalidate: (token: string) => void invalidated.push(token) }
  const bounds = { pollHoldMs: 1_000, spoolAfterMs: 2_000, retryBaseMs: 5, retryMaxMs: 20, postIdleMs: 1_000, ...more }
  const relay = await startRelay({
    planeUrl,
    tokens,
    address: '127.0.0.1',
    bounds,
    callers: admitted(['w1', 'w2']),
    log: silentLog(),
    spoolDir: tempDir('relay-spool'),
  })
  cleanups.push(() => relay.close())
  const call = (path: string, init: RequestInit = {}) => {
    const url = `http://127.0.0.1:${relay.port}/v2/ep/${path}`
    return fetch(url, { ...init, headers: asWorker(url) })
  }
  const takeJob = async (): Promise<string> => {
    for (;;) {
      const reply = await call('job-take/w1?boot=b1&job_in_progress=0')
      if (reply.status === 200) return ((await reply.json()) as { id: string }).id
    }
  }
  return { plane, invalidated, call, takeJob }
}

/** A scene whose channel is open: the first call of a worker opens it and is carried by HTTP. */
async function linked(more: Partial<RelayBounds> = {}): Promise<Scene> {
  const opened = await scene(more)
  await opened.call('ping/w1?boot=b1')
  await until(() => opened.plane.sockets.size === 1)
  opened.plane.httpCalls.length = 0
  return opened
}

const post = (body: string) => ({ method: 'POST', body })

describe('a relay with worker channels', () => {
  test('[CHN-20] opens one with the tokens of host and worker, and sends takes, posts and stop polls over it', async () => {
    const { plane, call, takeJob } = await linked()
    expect(plane.opened).toEqual([{ token: 'Bearer host-token', worker: 'w1', key: keyOf('w1') }])
    const taken = takeJob()
    await until(() => plane.frames.some(({ type }) => type === 'take'))
    plane.submit('j1')
    expect(await taken).toBe('j1')
    expect(await (await call('job-stream/w1/j1?boot=b1', post('{"output":1}'))).json()).toEqual({})
    expect((await call('job-done/w1/j1?boot=b1', post('{"output":2}'))).status).toBe(200)
    const stop = call('job-stop/w1?boot=b1')
    await until(() => plane.frames.some(({ type }) => type === 'listen'))
    const listen = plane.frames.find((frame) => frame.type === 'listen')
    plane.say({ type: 'stop', n: listen?.n ?? 0, jobs: ['j1'] })
    expect(await (await stop).json()).toEqual({ jobsToStop: ['j1'] })
    expect(plane.httpCalls).toEqual([])
    expect(plane.applied.map(({ verb, body, over }) => [verb, body, over])).toEqual([
      ['job-stream', '{"output":1}', 'channel'],
      ['job-done', '{"output":2}', 'channel'],
    ])
  })

  test('[CHN-20] gathers the pings of all workers of the endpoint', async () => {
    const { plane, call } = await linked()
    await Promise.all([call('ping/w1?boot=b1&job_id=j1,j2&runpod_version=1.12.0'), call('ping/w2?boot=b2')])
    await until(() => plane.pings.length === 2)
    expect(plane.pings).toEqual(expect.arrayContaining([['w1', 'j1', 'j2'], ['w2']]))
    expect(plane.frames.filter(({ type }) => type === 'pings')).toHaveLength(1)
  })

  test('[CHN-21] leaves to HTTP what a frame cannot hold', async () => {
    const { plane, call } = await linked()
    await call('job-done/w1/j1?boot=b1', post('x'.repeat(65_537)))
    await call('job-done/w1/j2?boot=b1', { method: 'POST', body: new Uint8Array([0xff, 0xfe]) })
    await call('job-done/w1/j3?boot=a%20b', post('{}'))
    await call('job-done/w1/j%2F4?boot=b1', post('{}'))
    await call('ping/w1?boot=b1&status=unhealthy&check=c')
    expect(plane.httpCalls).toEqual(['job-done', 'job-done', 'job-done', 'job-done', 'ping'])
    expect(plane.applied.every(({ over }) => over === 'http')).toBe(true)
  })

  test('[CHN-21] reads parameters that a worker appends to the path', async () => {
    const { plane, call } = await linked()
    const take = call('job-take/w1&boot=b1&job_in_progress=1')
    await until(() => plane.frames.some(({ type }) => type === 'take'))
    expect(plane.frames[0]).toMatchObject({ worker: 'w1', boot: 'b1', max: 1, batch: false, idle: false, again: false })
    plane.submit('j1')
    expect((await take).status).toBe(200)
  })

  test.each([404, 405, 426, 500, 403, 401])('[CHN-22] a plane that refuses a channel with %i is served over HTTP', async (status) => {
    const { plane, invalidated, call, takeJob } = await scene()
    plane.refusals.push(status, status, status)
    plane.submit('j1')
    expect(await takeJob()).toBe('j1')
    await until(() => plane.opened.length === 1)
    await call('job-done/w1/j1?boot=b1', post('{}'))
    expect(plane.applied).toMatchObject([{ over: 'http' }])
    expect(plane.sockets.size).toBe(0)
    expect(invalidated).toEqual(status === 401 ? ['host-token'] : [])
  })

  test('[CHN-22] repeats over HTTP a call that the plane does not decide over the channel', async () => {
    const { plane, call } = await linked({ pollHoldMs: 30_000 })
    plane.jobs.push('j1')
    plane.cutAt = 2
    const take = call('job-take/w1?boot=b1&job_in_progress=0')
    expect(await (await take).json()).toEqual({ id: 'j1' })
    expect(plane.httpCalls).toContain('job-take')
  })

  test('[CHN-23] a take ends with 204 after its hold, once the plane has confirmed it', async () => {
    const { plane, call } = await linked({ pollHoldMs: 50 })
    expect((await call('job-take/w1?boot=b1')).status).toBe(204)
    expect(plane.frames.map(({ type }) => type)).toEqual(['take', 'leave'])
    plane.submit('j1')
    expect(plane.jobs).toEqual(['j1'])
  })

  test('[CHN-23] a job for a worker that has gone is asked for again with its next take', async () => {
    const { plane, call } = await linked({ pollHoldMs: 30_000 })
    const gone = new AbortController()
    const take = call('job-take/w1?boot=b1', { signal: gone.signal }).catch(() => 'gone')
    await until(() => plane.frames.some(({ type }) => type === 'take'))
    // The job and the leave cross on the wire: the plane has not read the leave.
    const first = plane.frames.find((frame) => frame.type === 'take')
    gone.abort()
    await take
    await until(() => plane.frames.some(({ type }) => type === 'leave') || plane.frames.length > 1)
    plane.say({ type: 'job', n: first?.n ?? 0, text: '{"id":"j1"}' })
    const next = call('job-take/w1?boot=b1')
    await until(() => plane.frames.filter(({ type }) => type === 'take').length === 2)
    plane.submit('j2')
    expect((await next).status).toBe(200)
  })

  test('[CHN-24] repeats its open calls when the object wakes', async () => {
    const { plane, call } = await linked({ pollHoldMs: 30_000 })
    const take = call('job-take/w1?boot=b1&job_in_progress=0')
    const stop = call('job-stop/w1?boot=b1')
    await until(() => plane.frames.length === 2)
    plane.wake()
    await until(() => plane.frames.some(({ type }) => type === 'hello'))
    const hello = plane.frames.find((frame) => frame.type === 'hello')
    expect(hello).toMatchObject({
      takes: [{ worker: 'w1', boot: 'b1', idle: true, again: false }],
      listens: [{ worker: 'w1', boot: 'b1' }],
    })
    plane.submit('j1')
    expect(await (await take).json()).toEqual({ id: 'j1' })
    for (const socket of plane.sockets) socket.terminate()
    expect((await stop).status).toBe(200)
  })

  test('[CHN-25] frames that it does not know change nothing', async () => {
    const { plane, call, takeJob } = await linked()
    const frames = [
      '',
      '{',
      '[]',
      '{"type":"news"}',
      '{"type":"job","n":99,"text":"{}"}',
      '{"type":"ack","n":7,"status":200}',
      '{"type":"part","n":5,"text":"x"}',
    ]
    for (const frame of frames) for (const socket of plane.sockets) socket.send(frame)
    plane.submit('j1')
    expect(await takeJob()).toBe('j1')
    expect((await call('job-done/w1/j1?boot=b1', post('{}'))).status).toBe(200)
    expect(plane.applied).toMatchObject([{ over: 'channel' }])
  })
})

describe('a channel that is cut', () => {
  /** One job, from its take to its result. */
  async function live({ plane, call, takeJob }: Scene): Promise<string> {
    plane.submit('j1')
    const job = await takeJob()
    await call(`job-done/w1/${job}?boot=b1`, post('{"status":"IN_PROGRESS","output":"half"}'))
    await call(`job-stream/w1/${job}?boot=b1`, post('{"output":1}'))
    await call(`job-stream/w1/${job}?boot=b1`, post('{"output":2}'))
    await call(`job-done/w1/${job}?boot=b1`, post('{"output":3}'))
    return job
  }
  const BODIES = ['{"status":"IN_PROGRESS","output":"half"}', '{"output":1}', '{"output":2}', '{"output":3}']
  /** Frames of such a life: two for the take and for each post. */
  const FRAMES = 10

  test('[CHN-26] at none of its frames', async () => {
    const cut = await linked()
    await live(cut)
    expect(cut.plane.passed).toBe(FRAMES)
  })

  test.each(Array.from({ length: FRAMES }, (_, index) => index + 1))(
    '[CHN-26] at frame %i of a life loses and repeats nothing: the worker gets its job, and each post is applied once and in order',
    async (frame) => {
      const cut = await linked()
      cut.plane.cutAt = frame
      expect(await live(cut)).toBe('j1')
      await until(() => cut.plane.applied.length >= BODIES.length)
      expect(cut.plane.applied.map(({ body }) => body)).toEqual(BODIES)
      expect(cut.plane.jobs).toEqual([])
    },
  )
})
