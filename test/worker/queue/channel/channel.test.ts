import { MAX_FRAME_CHARS, MAX_PART_CHARS, PlaneFrame, USE_HTTP } from '../../../../src/host-protocol/worker-channel.ts'
import { admin, describe, env, evictDurableObject, expect, it, vi } from '../../../support/harness.ts'
import { FakeChannel } from '../../../support/hosts/fake-channel.ts'
import { FakeHost, type FakeWorker } from '../../../support/hosts/fake-host.ts'
import { inside, type QueueSetup, run, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'
import { until } from '../../../support/time.ts'

interface Scene {
  queue: QueueSetup
  worker: FakeWorker
  channel: FakeChannel
}

async function scene(changes: Record<string, unknown> = {}): Promise<Scene> {
  const queue = await setUpQueue({ workers: { min: 1, max: 1, idleTimeout: 3_600 }, ...changes })
  const worker = await queue.host.startWorker(queue.endpointId)
  return { queue, worker, channel: await FakeChannel.open(queue.host, queue.endpointId, worker) }
}

const isParked = (queue: QueueSetup, worker: FakeWorker) =>
  inside(queue, ({ core }) => core.parking.openTakes().some((take) => take.workerId === worker.id))
const status = async (queue: QueueSetup, jobId: string) => (await queue.get(`/status/${jobId}`)).body

describe('a channel', () => {
  it('[CHN-1] carries a job from its take to its result', async () => {
    const { queue, worker, channel } = await scene()
    const n = channel.take(worker)
    const jobId = await run(queue, { prompt: 'x' })
    expect(await channel.job(n)).toMatchObject({ id: jobId, input: { prompt: 'x' } })
    expect(await channel.answer(channel.post(worker, jobId, { status: 'IN_PROGRESS', output: 'half' }))).toMatchObject({ status: 200 })
    expect(await status(queue, jobId)).toMatchObject({ status: 'IN_PROGRESS', output: 'half' })
    await channel.answer(channel.post(worker, jobId, { output: 'chunk' }, { verb: 'job-stream' }))
    expect((await queue.get(`/stream/${jobId}`)).body.stream).toEqual([{ output: 'chunk' }])
    await channel.answer(channel.post(worker, jobId, { output: 7 }))
    expect(await status(queue, jobId)).toMatchObject({ status: 'COMPLETED', output: 7 })
  })

  it('[CHN-1] answers a batch as an array, and a long answer in parts', async () => {
    const { queue, worker, channel } = await scene()
    const long = 'x'.repeat(2 * MAX_PART_CHARS)
    const ids = [await run(queue, { long }), await run(queue)]
    const answer = await channel.answer(channel.take(worker, { max: 5, batch: true }))
    const text = answer.type === 'job' ? answer.text : ''
    expect(JSON.parse(text).map(({ id }: { id: string }) => id)).toEqual(ids)
    expect(JSON.parse(text)[0].input.long).toBe(long)
    expect(channel.heard.filter(({ type }) => type === 'part').length).toBeGreaterThanOrEqual(2)
  })

  it('[CHN-2] recognizes a repeated post by its delivery', async () => {
    const { queue, worker, channel } = await scene()
    const jobId = await run(queue)
    await channel.job(channel.take(worker))
    const chunk = () => channel.answer(channel.post(worker, jobId, { output: 1 }, { verb: 'job-stream', delivery: 'session-1.4' }))
    await chunk()
    await chunk()
    expect((await queue.get(`/stream/${jobId}`)).body.stream).toHaveLength(1)
  })

  it('[CHN-3] ends a take that its worker has left, and assigns its job to no worker', async () => {
    const { queue, worker, channel } = await scene()
    const n = channel.take(worker)
    channel.leave(n)
    expect(await channel.answer(n)).toEqual({ type: 'nothing', n })
    expect(await isParked(queue, worker)).toBe(false)
    const jobId = await run(queue)
    expect(await status(queue, jobId)).toMatchObject({ status: 'IN_QUEUE' })
    expect(await channel.job(channel.take(worker))).toMatchObject({ id: jobId })
  })

  it('[CHN-3] a second take of a worker ends the first one, over the channel or over HTTP', async () => {
    const { queue, worker, channel } = await scene()
    const [first, second] = [channel.take(worker), channel.take(worker)]
    expect(await channel.answer(first)).toEqual({ type: 'nothing', n: first })
    const http = worker.take()
    expect(await channel.answer(second)).toEqual({ type: 'nothing', n: second })
    const jobId = await run(queue)
    expect(await http).toMatchObject({ id: jobId })
  })

  it('[CHN-4] delivers a stop order once', async () => {
    const { queue, worker, channel } = await scene()
    const jobId = await run(queue)
    await channel.job(channel.take(worker))
    const n = channel.listen(worker)
    await queue.post(`/cancel/${jobId}`)
    expect(await channel.answer(n)).toEqual({ type: 'stop', n, jobs: [jobId] })
    const next = channel.listen(worker)
    channel.leave(next)
    expect(await channel.answer(next)).toEqual({ type: 'nothing', n: next })
  })

  it('[CHN-4] answers the polls of a draining worker after a pause', async () => {
    const { queue, worker, channel } = await scene()
    const [take, listen] = [channel.take(worker), channel.listen(worker)]
    await until(() => isParked(queue, worker))
    await endpointStub(env, queue.endpointId).hostChanged([worker.id], { kind: 'draining' })
    expect(await channel.answer(take)).toMatchObject({ type: 'nothing' })
    expect(await channel.answer(channel.take(worker))).toMatchObject({ type: 'nothing', afterMs: 1_000 })
    channel.leave(listen)
    expect(await channel.answer(channel.listen(worker))).toMatchObject({ type: 'nothing', afterMs: 1_000 })
  })

  it('[CHN-5] pings of all workers renew their leases in one commit', async () => {
    const { queue, worker, channel } = await scene()
    const jobId = await run(queue)
    await channel.job(channel.take(worker))
    const before = await inside(queue, ({ core }) => core.state.workers.get(worker.id))
    channel.say({ type: 'pings', pings: [{ ...FakeChannel.from(worker), jobs: [jobId], sdkVersion: '1.12.0' }] })
    await until(async () => {
      const after = await inside(queue, ({ core }) => core.state.workers.get(worker.id))
      return JSON.stringify(after) !== JSON.stringify(before)
    })
    expect(await status(queue, jobId)).toMatchObject({ status: 'IN_PROGRESS' })
  })
})

describe('an object with channels', () => {
  it('[CHN-6] leaves memory while calls are open, asks for them when it wakes, and answers them', async () => {
    const { queue, worker, channel } = await scene()
    const [take, listen] = [channel.take(worker), channel.listen(worker)]
    await until(() => isParked(queue, worker))
    expect(await inside(queue, ({ core }) => core.timers.isIdle)).toBe(true)
    await evictDurableObject(endpointStub(env, queue.endpointId))
    const jobId = await run(queue)
    await until(() => channel.heard.some(({ type }) => type === 'sync'))
    channel.greet()
    expect(await channel.job(take)).toMatchObject({ id: jobId })
    await queue.post(`/cancel/${jobId}`)
    expect(await channel.answer(listen)).toMatchObject({ type: 'stop', jobs: [jobId] })
  })

  it('[CHN-3] confirms that a call is left which it does not know any more', async () => {
    const { queue, worker, channel } = await scene()
    const n = channel.take(worker)
    await until(() => isParked(queue, worker))
    await evictDurableObject(endpointStub(env, queue.endpointId))
    channel.leave(n)
    expect(await channel.answer(n)).toEqual({ type: 'nothing', n })
    expect(await isParked(queue, worker)).toBe(false)
  })

  it('[CHN-6] a hello keeps calls that are open and ends those that it does not name', async () => {
    const { queue, worker, channel } = await scene()
    const [take, listen] = [channel.take(worker), channel.listen(worker)]
    await until(() => isParked(queue, worker))
    channel.open.delete(listen)
    channel.greet()
    expect(await channel.answer(listen)).toEqual({ type: 'nothing', n: listen })
    expect(await isParked(queue, worker)).toBe(true)
    const jobId = await run(queue)
    expect(await channel.job(take)).toMatchObject({ id: jobId })
  })

  it('[CHN-7] ends the calls of a channel that breaks, and of one that the same host replaces', async () => {
    const { queue, worker, channel } = await scene()
    channel.take(worker)
    await until(() => isParked(queue, worker))
    const next = await FakeChannel.open(queue.host, queue.endpointId, worker)
    await until(() => channel.closedWith !== null)
    expect(channel.closedWith).toBe(4000)
    expect(await isParked(queue, worker)).toBe(false)
    next.take(worker)
    await until(() => isParked(queue, worker))
    next.close()
    await until(async () => !(await isParked(queue, worker)))
    const jobId = await run(queue)
    expect(await worker.take()).toMatchObject({ id: jobId })
  })

  it('[CHN-7] a post that cannot be stored is refused with 503, and its repetition is stored', async () => {
    const { queue, worker, channel } = await scene()
    const jobId = await run(queue)
    await channel.job(channel.take(worker))
    await inside(queue, ({ core }) => vi.spyOn(core, 'transact').mockRejectedValueOnce(new Error('the disk is full')))
    expect(await channel.answer(channel.post(worker, jobId, { output: 1 }))).toMatchObject({ type: 'ack', status: 503 })
    expect(await channel.answer(channel.post(worker, jobId, { output: 1 }))).toMatchObject({ type: 'ack', status: 200 })
    expect(await status(queue, jobId)).toMatchObject({ status: 'COMPLETED' })
  })

  it('[CHN-8] closes a channel whose host is lost', async () => {
    const { queue, worker, channel } = await scene()
    await endpointStub(env, queue.endpointId).hostChanged([worker.id], { kind: 'lost' })
    await until(() => channel.closedWith !== null)
    expect(channel.closedWith).toBe(4001)
  })
})

it('[CHN-27] a host shows the transport of each endpoint, as its agent reports it', async () => {
  const host = await FakeHost.join()
  const shown = async () => (await admin().get(`/admin/v1/hosts/${host.id}`)).body.workerTransports
  await host.beat()
  expect(await shown()).toBeNull()
  await host.beat({
    transports: [
      { endpoint: 'e1', transport: 'channel' },
      { endpoint: 'e2', transport: 'http' },
    ],
  })
  expect(await shown()).toEqual([
    { endpointId: 'e1', transport: 'CHANNEL' },
    { endpointId: 'e2', transport: 'HTTP' },
  ])
  host.leave()
})

describe('access to a channel', () => {
  it('[CHN-9] needs the token of the host and the key of a worker of the endpoint on that host', async () => {
    const { queue, worker } = await scene()
    const foreign = await setUpQueue({ workers: { min: 1, max: 1, idleTimeout: 3_600 } })
    const foreignWorker = await foreign.host.startWorker(foreign.endpointId)
    const other = await FakeHost.join()
    const open = (host: FakeHost, endpointId: string, of: { id: string; token: string }, token?: string) =>
      FakeChannel.tryOpen(host, endpointId, of, token).then((opened) => opened.status)
    expect(await open(queue.host, queue.endpointId, worker, 'wrong')).toBe(401)
    expect(await open(queue.host, queue.endpointId, { ...worker, token: foreignWorker.token })).toBe(403)
    expect(await open(queue.host, foreign.endpointId, worker)).toBe(403)
    expect(await open(queue.host, queue.endpointId, { id: '', token: '' })).toBe(403)
    expect(await open(other, queue.endpointId, worker)).toBe(403)
    expect(await open(queue.host, queue.endpointId, worker)).toBe(101)
    other.leave()
  })

  it('[CHN-10] leaves calls of workers that are not on the host to HTTP, and changes nothing for them', async () => {
    const { queue, worker, channel } = await scene()
    const other = await setUpQueue({ workers: { min: 1, max: 1, idleTimeout: 3_600 } })
    const stranger = await other.host.startWorker(other.endpointId)
    const jobId = await run(queue)
    await channel.job(channel.take(worker))
    await inside(queue, ({ core }) =>
      core.transact(({ state }) => {
        const row = state.workers.get(worker.id)
        if (row) state.workers.save({ ...row, hostId: 'another' })
      }),
    )
    const victim = await status(queue, jobId)
    for (const of of [worker, stranger]) {
      const take = channel.take(of)
      expect(await channel.answer(take)).toEqual({ type: 'nothing', n: take, status: USE_HTTP })
      const listen = channel.listen(of)
      expect(await channel.answer(listen)).toEqual({ type: 'nothing', n: listen, status: USE_HTTP })
      const post = channel.post(of, jobId, { output: 'forged' })
      expect(await channel.answer(post)).toEqual({ type: 'ack', n: post, status: USE_HTTP })
      channel.say({ type: 'pings', pings: [{ ...FakeChannel.from(of), jobs: [], sdkVersion: null }] })
    }
    expect(await status(queue, jobId)).toEqual(victim)
  })

  it('[CHN-11] a frame that is not valid closes the channel and changes nothing', async () => {
    const { queue, worker } = await scene()
    const jobId = await run(queue)
    const from = FakeChannel.from(worker)
    const frames: unknown[] = [
      '',
      '{',
      'null',
      '[]',
      { type: 'unknown' },
      { type: 'take' },
      { type: 'take', n: -1, ...from, max: 1, batch: false, idle: true, again: false },
      { type: 'take', n: 1, ...from, max: 1e9, batch: false, idle: true, again: false },
      { type: 'take', n: 1, worker: worker.id, boot: 'a b', max: 1, batch: false, idle: true, again: false },
      { type: 'post', n: 1, ...from, job: jobId, verb: 'purge-queue', delivery: '', body: '{}' },
      { type: 'post', n: 1, ...from, job: jobId, verb: 'job-done', delivery: '', body: 'x'.repeat(70_000) },
      { type: 'pings', pings: [{ ...from, jobs: [1], sdkVersion: null }] },
      'x'.repeat(MAX_FRAME_CHARS + 1),
    ]
    for (const frame of frames) {
      const channel = await FakeChannel.open(queue.host, queue.endpointId, worker)
      channel.say(frame)
      await until(() => channel.closedWith !== null)
      expect(channel.closedWith, JSON.stringify(frame).slice(0, 100)).toBe(4400)
    }
    expect(await status(queue, jobId)).toMatchObject({ status: 'IN_QUEUE' })
    expect(await worker.take()).toMatchObject({ id: jobId })
  })

  const SECOND_CALLS: Record<string, (n: number, from: { worker: string; boot: string }) => unknown> = {
    'a take': (n, from) => ({ type: 'take', n, ...from, max: 1, batch: false, idle: true, again: false }),
    'a stop poll': (n, from) => ({ type: 'listen', n, ...from }),
    'a stop poll of a worker elsewhere': (n, { boot }) => ({ type: 'listen', n, worker: 'elsewhere', boot }),
    'a post': (n, from) => ({ type: 'post', n, ...from, job: 'none', verb: 'job-done', delivery: '', body: '{}' }),
    'two calls of a hello': (n, from) => ({ type: 'hello', takes: [], listens: [from, from].map((of) => ({ n: n + 1, ...of })) }),
  }
  it.each(Object.entries(SECOND_CALLS))('[CHN-11] a number that is open names no other call: %s', async (_, second) => {
    const { queue, worker, channel } = await scene()
    const n = channel.take(worker)
    await until(() => isParked(queue, worker))
    channel.say(second(n, FakeChannel.from(worker)))
    // It is on its way when the object closes the channel.
    channel.take(worker)
    await until(() => channel.closedWith !== null)
    expect(channel.closedWith).toBe(4400)
    expect(await isParked(queue, worker)).toBe(false)
    const jobId = await run(queue)
    expect(await worker.take()).toMatchObject({ id: jobId })
  })

  it('[CHN-11] a number that is not open any more may name another call', async () => {
    const { queue, worker, channel } = await scene()
    const n = channel.take(worker)
    channel.leave(n)
    const from = FakeChannel.from(worker)
    channel.say({ type: 'take', n, ...from, max: 1, batch: false, idle: true, again: false })
    await until(() => isParked(queue, worker))
    const jobId = await run(queue)
    await until(() => channel.heard.some(({ type }) => type === 'job'))
    expect(channel.heard).toMatchObject([
      { type: 'nothing', n },
      { type: 'job', n },
    ])
    expect(await status(queue, jobId)).toMatchObject({ status: 'IN_PROGRESS' })
    expect(channel.closedWith).toBeNull()
  })

  it('[CHN-12] ends with the endpoint', async () => {
    const { queue, worker, channel } = await scene()
    expect(PlaneFrame.safeParse({ type: 'sync' }).success).toBe(true)
    await inside(queue, ({ core }) => core.ctx.storage.deleteAll().then(() => undefined))
    await evictDurableObject(endpointStub(env, queue.endpointId))
    channel.take(worker)
    await until(() => channel.closedWith !== null)
    expect(channel.closedWith).toBe(4404)
  })
})

describe('a standing ping', () => {
  const workerRow = (queue: QueueSetup, worker: FakeWorker) => inside(queue, ({ core }) => core.state.workers.get(worker.id))
  const isWatched = async (queue: QueueSetup, worker: FakeWorker) =>
    typeof ((await workerRow(queue, worker)) as { watchedUntilMs?: number | null } | null)?.watchedUntilMs === 'number'
  const later = (queue: QueueSetup, ms: number) =>
    inside(queue, async (object) => {
      const nowMs = Date.now() + ms
      object.core.now = () => nowMs
      await object.alarm()
    })

  /** A worker that runs a job, and whose agent answers for its pings. */
  async function standing() {
    const { queue, worker, channel } = await scene()
    const jobId = await run(queue)
    await channel.job(channel.take(worker))
    channel.listen(worker)
    channel.stand(worker, [jobId])
    await until(() => isWatched(queue, worker))
    return { queue, worker, channel, jobId }
  }

  it('[CHN-30] keeps a job without pings while the object rests, with no timer and no row', async () => {
    const { queue, worker, channel, jobId } = await standing()
    expect(await inside(queue, ({ core }) => core.timers.isIdle)).toBe(true)
    const alarmAtMs = await inside(queue, ({ core }) => core.state.meta.alarmAtMs())
    expect((alarmAtMs ?? 0) - Date.now(), 'the alarm is far ahead').toBeGreaterThan(240_000)
    channel.greets = true
    for (const ms of [100_000, 200_000, 300_000]) {
      await evictDurableObject(endpointStub(env, queue.endpointId))
      await later(queue, ms)
      await until(() => isWatched(queue, worker))
      expect(await status(queue, jobId)).toMatchObject({ status: 'IN_PROGRESS' })
    }
    expect(channel.heard.filter(({ type }) => type === 'sync').length).toBeGreaterThanOrEqual(3)
  })

  it('[CHN-30] ends with its channel, with the silence of its worker, and with a hello that does not name it', async () => {
    for (const end of ['close', 'quiet', 'hello'] as const) {
      const { queue, worker, channel } = await standing()
      if (end === 'close') channel.close()
      if (end === 'quiet') channel.say({ type: 'quiet', workers: [{ ...FakeChannel.from(worker), silentMs: 20_000 }] })
      if (end === 'hello') {
        channel.standing.clear()
        channel.greet()
      }
      await until(async () => !(await isWatched(queue, worker)))
    }
  })

  it('[CHN-30] stays when the end of an earlier channel of the host is reported late', async () => {
    const { queue, worker, channel: first, jobId } = await standing()
    const old = await inside(queue, ({ core }) => core.ctx.getWebSockets()[0])
    const second = await FakeChannel.open(queue.host, queue.endpointId, worker)
    await until(() => first.closedWith !== null)
    second.stand(worker, [jobId])
    await until(() => isWatched(queue, worker))
    await inside(queue, (object) => old && object.webSocketError(old))
    await second.answer(second.take(worker, { boot: 'none' }))
    expect(await isWatched(queue, worker)).toBe(true)
  })

  it('[CHN-30, LSE-7] of a worker that has gone quiet ends it, although the object rests meanwhile', async () => {
    const { queue, worker, channel, jobId } = await standing()
    channel.greets = true
    channel.standing.clear()
    channel.say({ type: 'quiet', workers: [{ ...FakeChannel.from(worker), silentMs: 20_000 }] })
    await until(async () => !(await isWatched(queue, worker)))
    for (let rests = 0; rests < 3 && (await workerRow(queue, worker))?.phase === 'READY'; rests += 1) {
      const atMs = (await inside(queue, ({ core }) => core.state.meta.alarmAtMs())) ?? Date.now()
      await evictDurableObject(endpointStub(env, queue.endpointId))
      await later(queue, atMs - Date.now())
    }
    expect((await workerRow(queue, worker))?.phase).not.toBe('READY')
    expect(await status(queue, jobId)).toMatchObject({ status: 'IN_QUEUE' })
  })

  it('[CHN-30] of a worker that is not on this host, or has not taken yet, is asked for again', async () => {
    const { worker, channel } = await standing()
    channel.say({ type: 'pings', pings: [{ ...FakeChannel.from(worker), worker: 'nobody', jobs: [], sdkVersion: null, stands: true }] })
    await until(() => channel.heard.some((frame) => frame.type === 'recall' && frame.workers.includes('nobody')))
  })

  it('[CHN-30, WRK-26] is taken back when a job has to stop', async () => {
    const { queue, worker, channel, jobId } = await standing()
    await queue.post(`/cancel/${jobId}`)
    await until(() => channel.heard.some((frame) => frame.type === 'recall' && frame.workers.includes(worker.id)))
    expect(await isWatched(queue, worker)).toBe(false)
  })

  it('[CHN-30, CHN-10] of another host changes nothing', async () => {
    const { queue, worker, channel, jobId } = await standing()
    const other = await setUpQueue({ workers: { min: 1, max: 1, idleTimeout: 3_600 } })
    const theirs = await other.host.startWorker(other.endpointId)
    const foreign = await FakeChannel.open(other.host, other.endpointId, theirs)
    const before = JSON.stringify(await workerRow(queue, worker))
    foreign.stand(worker, [jobId])
    foreign.say({ type: 'quiet', workers: [{ ...FakeChannel.from(worker), silentMs: 600_000 }] })
    await foreign.answer(foreign.take(theirs, { boot: 'none' }))
    expect(JSON.stringify(await workerRow(queue, worker))).toBe(before)
    expect(foreign.closedWith).toBeNull()
    channel.close()
  })

  it('[CHN-31] an idle worker whose take stays open stops after its idle time, although the object rests', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 1, idleTimeout: 300 } })
    const jobId = await run(queue)
    const worker = await queue.host.startWorker(queue.endpointId)
    const channel = await FakeChannel.open(queue.host, queue.endpointId, worker)
    channel.greets = true
    await channel.job(channel.take(worker))
    await channel.answer(channel.post(worker, jobId, { output: 1 }))
    channel.take(worker)
    channel.stand(worker)
    await until(() => isWatched(queue, worker))
    const startMs = Date.now()
    let nowMs = startMs
    for (let wakes = 0; (await workerRow(queue, worker))?.phase === 'READY' && wakes < 8; wakes += 1) {
      nowMs = (await inside(queue, ({ core }) => core.state.meta.alarmAtMs())) ?? nowMs
      await evictDurableObject(endpointStub(env, queue.endpointId))
      await later(queue, nowMs - Date.now())
    }
    expect((await workerRow(queue, worker))?.phase).not.toBe('READY')
    expect(nowMs - startMs).toBeGreaterThan(290_000)
    expect(nowMs - startMs, 'a minute late at most').toBeLessThan(370_000)
  })
})
