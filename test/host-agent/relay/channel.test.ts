import { afterEach, describe, expect, test, vi } from 'vitest'
import type { RelayBounds } from '../../../src/host-agent/relay/bounds.ts'
import { AnswerParts } from '../../../src/host-agent/relay/channel/answer-parts.ts'
import { until } from '../../support/time.ts'
import { keyOf } from '../support/callers.ts'
import type { ChannelPlane } from '../support/channel-plane.ts'
import { channelScene, openChannel, type Scene } from '../support/channel-scene.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function scene(more: Partial<RelayBounds> = {}): Promise<Scene> {
  const opened = await channelScene(more)
  cleanups.push(() => opened.close())
  return opened
}

/** A scene whose channel is open: the first call of a worker opens it and is carried by HTTP. */
async function linked(more: Partial<RelayBounds> = {}): Promise<Scene> {
  const opened = await scene(more)
  await openChannel(opened)
  return opened
}

/** Number of the first open call of a type. */
function numberOf(plane: ChannelPlane, type: 'take' | 'listen'): number {
  return plane.frames.flatMap((frame) => (frame.type === type && 'n' in frame ? [frame.n] : []))[0] ?? -1
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
    for (const frame of frames) plane.sayRaw(frame)
    plane.submit('j1')
    expect(await takeJob()).toBe('j1')
    expect((await call('job-done/w1/j1?boot=b1', post('{}'))).status).toBe(200)
    expect(plane.applied).toMatchObject([{ over: 'channel' }])
  })

  test('[CHN-25] answers of another kind than the call, or with a status that no answer has, end no call', async () => {
    const { plane, call } = await linked({ pollHoldMs: 30_000, postIdleMs: 50 })
    const take = call('job-take/w1?boot=b1')
    const stop = call('job-stop/w1?boot=b1')
    await until(() => plane.frames.length === 2)
    const [ofTake, ofStop] = [numberOf(plane, 'take'), numberOf(plane, 'listen')]
    plane.say({ type: 'stop', n: ofTake, jobs: [] })
    plane.say({ type: 'part', n: ofStop, text: 'x' })
    plane.say({ type: 'job', n: ofStop, text: '{}' })
    plane.ackStatus = 7
    expect((await call('job-done/w1/j9?boot=b1', post('{}'))).status).toBe(200)
    expect(plane.httpCalls).toEqual(['job-done'])
    plane.submit('j1')
    expect(await (await take).json()).toEqual({ id: 'j1' })
    plane.say({ type: 'stop', n: ofStop, jobs: ['j1'] })
    expect(await (await stop).json()).toEqual({ jobsToStop: ['j1'] })
  })

  test('[CHN-25] a pause of the plane is no longer than the hold of the poll', async () => {
    const { plane, call } = await linked({ pollHoldMs: 100 })
    const take = call('job-take/w1?boot=b1')
    await until(() => plane.frames.length === 1)
    plane.say({ type: 'nothing', n: 1, afterMs: 86_400_000 })
    expect((await take).status).toBe(204)
  })

  test('[CHN-25] a pause of the plane takes only what is left of the hold', async () => {
    const { plane, call } = await linked({ pollHoldMs: 600_000 })
    const take = call('job-take/w1?boot=b1')
    await until(() => plane.frames.length === 1)
    const laterMs = performance.now() + 600_000
    const clock = vi.spyOn(performance, 'now').mockReturnValue(laterMs)
    cleanups.push(() => clock.mockRestore())
    plane.say({ type: 'nothing', n: 1, afterMs: 86_400_000 })
    expect((await take).status).toBe(204)
  })
})

describe('a plane that gives no end', () => {
  const LONG = 'x'.repeat(3 * 2 ** 20)

  test('[CHN-28] keeps no parts of calls that do not wait', async () => {
    const { plane, call, takeJob } = await linked({ pollHoldMs: 30_000 })
    const gone = new AbortController()
    const take = call('job-take/w1?boot=b1', { signal: gone.signal }).catch(() => 'gone')
    const stop = call('job-stop/w1?boot=b1')
    await until(() => plane.frames.length === 2)
    const [ofTake, ofStop] = [numberOf(plane, 'take'), numberOf(plane, 'listen')]
    for (let count = 0; count < 22; count += 1) for (const n of [ofStop, 99]) plane.say({ type: 'part', n, text: LONG })
    for (let count = 0; count < 16; count += 1) plane.say({ type: 'part', n: ofTake, text: LONG })
    plane.confirmsLeave = false
    gone.abort()
    await take
    await until(() => plane.frames.some(({ type }) => type === 'leave'))
    // Few, because the agent waits for the confirmation only 5 s.
    for (let count = 0; count < 6; count += 1) plane.say({ type: 'part', n: ofTake, text: LONG })
    plane.say({ type: 'nothing', n: ofTake })
    plane.say({ type: 'stop', n: ofStop, jobs: ['j'] })
    expect((await stop).status).toBe(200)
    plane.submit('j1')
    expect(await takeJob()).toBe('j1')
    expect(plane.opened).toHaveLength(1)
    expect(plane.httpCalls).toEqual([])
  })

  test('[CHN-28] an answer that is longer than any comes over HTTP', async () => {
    const { plane, call } = await linked({ pollHoldMs: 30_000 })
    const take = call('job-take/w1?boot=b1')
    await until(() => plane.frames.length === 1)
    plane.jobs.push('j1')
    for (let count = 0; count < 22; count += 1) plane.say({ type: 'part', n: 1, text: LONG })
    expect(await (await take).json()).toEqual({ id: 'j1' })
    expect(plane.httpCalls).toEqual(['job-take'])
  })

  test('[CHN-28] small parts count more than their text', () => {
    const parts = new AnswerParts(100_000)
    let kept = 0
    while (parts.keep(1, 'x')) kept += 1
    expect(kept).toBe(97)
    expect(parts.keep(2, '')).toBe(false)
    expect(parts.take(1)).toBe('x'.repeat(97))
    expect(parts.heldChars).toBe(0)
    expect(parts.keep(2, '')).toBe(true)
  })

  test('[CHN-28] cuts a channel over which the plane does not confirm that a call is left', async () => {
    const { plane, call } = await linked({ pollHoldMs: 20 })
    plane.confirmsLeave = false
    expect((await call('job-take/w1?boot=b1')).status).toBe(204)
    expect(plane.httpCalls).toEqual(['job-take'])
    await until(() => plane.sockets.size === 0)
  })

  test('[CHN-28] cuts a channel over which the plane asks, and reads nothing', async () => {
    const { plane, call, takeJob } = await linked({ pollHoldMs: 30_000 })
    const polls = Array.from({ length: 200 }, () => call('job-stop/w1?boot=b1'))
    await until(() => plane.frames.length === polls.length)
    const [socket] = plane.sockets
    socket?.pause()
    for (let count = 0; count < 4_000; count += 1) plane.say({ type: 'sync' })
    for (const poll of polls) expect((await poll).status).toBe(200)
    plane.submit('j1')
    expect(await takeJob()).toBe('j1')
    expect(plane.httpCalls.filter((verb) => verb === 'job-stop')).toHaveLength(polls.length)
    socket?.terminate()
  })

  test('[CHN-24] a call that is left is not repeated', async () => {
    const { plane, call } = await linked({ pollHoldMs: 20 })
    plane.confirmsLeave = false
    const take = call('job-take/w1?boot=b1')
    await until(() => plane.frames.some(({ type }) => type === 'leave'))
    plane.wake()
    await until(() => plane.frames.some(({ type }) => type === 'hello'))
    expect(plane.frames.at(-1)).toEqual({ type: 'hello', takes: [], listens: [] })
    plane.say({ type: 'nothing', n: 1 })
    expect((await take).status).toBe(204)
    expect(plane.httpCalls).toEqual([])
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
