import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { createLog } from '../../../src/host-agent/log.ts'
import { sendBehindPosts } from '../../../src/host-agent/plane/send-behind-posts.ts'
import type { RelayBounds } from '../../../src/host-agent/relay/bounds.ts'
import { type Relay, startRelay } from '../../../src/host-agent/relay/relay.ts'
import { parseRelayRoute, withRetainedJobs } from '../../../src/host-agent/relay/routes.ts'
import { realTime, SOON } from '../../support/time.ts'
import { admitted, asWorker, keyOf } from '../support/callers.ts'
import { PostPlane } from '../support/post-plane.ts'
import { tempDir } from '../support/temp-dir.ts'

const KEY = keyOf('w1')
/** Never reached by a test: waiting for it would show as a time-out. */
const LONG_MS = 3_600_000

/** Containers by their addresses, of which a Linux machine has plenty. */
const ADDRESSES: Record<string, string> = { w1: '127.0.0.1', w2: '127.0.0.2', w3: '127.0.0.3' }
const HERE = '127.0.0.1'

/** The status of a result that a worker posts from the address of its container. */
async function postAs(worker: string, port: number, job: string, body: string): Promise<number | undefined> {
  const headers = { authorization: keyOf(worker), 'content-length': body.length }
  const post = request({
    host: '127.0.0.1',
    localAddress: ADDRESSES[worker],
    port,
    path: `/v2/ep/job-done/${worker}/${job}?boot=b1`,
    method: 'POST',
    headers,
    agent: false,
  })
  post.end(body)
  const [response]: IncomingMessage[] = await once(post, 'response')
  response?.resume()
  return response?.statusCode
}

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function openPlane(): Promise<PostPlane> {
  const plane = new PostPlane()
  await plane.open()
  cleanups.push(() => plane.close().catch(() => {}))
  return plane
}

/** A relay with a worker's view of it. */
class Agent {
  readonly relay: Relay
  readonly spoolDir: string
  readonly lines: string[]

  private constructor(relay: Relay, spoolDir: string, lines: string[]) {
    this.relay = relay
    this.spoolDir = spoolDir
    this.lines = lines
  }

  static async start(plane: PostPlane, spoolDir: string, more: Partial<RelayBounds> = {}): Promise<Agent> {
    const lines: string[] = []
    const bounds = { pollHoldMs: 300, spoolAfterMs: LONG_MS, retryBaseMs: 5, retryMaxMs: 20, ...more }
    const log = createLog('info', (line) => lines.push(line))
    const callers = admitted(Object.keys(ADDRESSES), async (id) => [ADDRESSES[id] ?? '', HERE])
    const relay = await startRelay({ planeUrl: plane.url, address: '127.0.0.1', callers, bounds, log, spoolDir })
    cleanups.push(() => relay.close())
    return new Agent(relay, spoolDir, lines)
  }

  post(verb: string, job: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
    const url = `http://127.0.0.1:${this.relay.port}/v2/ep/${verb}/w1/${job}?gpu=x&boot=b1&isStream=false`
    return fetch(url, { method: 'POST', body, headers: { authorization: KEY, ...headers } })
  }

  async ask(path: string): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.relay.port}/v2/ep/${path}`, { headers: asWorker(`/v2/ep/${path}`) })
    await response.arrayBuffer()
    return response.status
  }

  chunk(job: string, body: string) {
    return this.post('job-stream', job, body)
  }

  result(job: string, body: string) {
    return this.post('job-done', job, body)
  }

  files(): string[] {
    return readdirSync(this.spoolDir).toSorted()
  }

  /** Waits until no post is kept. */
  async drained(): Promise<void> {
    await expect.poll(() => this.files(), { timeout: 10_000 }).toEqual([])
  }
}

const statuses = async (replies: readonly Promise<Response>[]) => (await Promise.all(replies)).map(({ status }) => status)

describe('while the plane answers', () => {
  test('[HOST-20] posts pass through with its answer, and nothing is written to disk', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'))
    const reply = await agent.chunk('j1', 'a')
    expect([reply.status, await reply.text()]).toEqual([200, '{"by":"plane"}'])
    // A file written before would show in the time stamp of the directory.
    const writtenAt = statSync(agent.spoolDir).mtimeMs
    await agent.result('j1', 'r')
    plane.mood = 'refuse'
    expect((await agent.result('j2', 'r')).status).toBe(400)
    expect([agent.files(), statSync(agent.spoolDir).mtimeMs, agent.lines]).toEqual([[], writtenAt, []])
  })

  test('[HOST-22] every post carries a number of its own, which a worker cannot choose', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'))
    await agent.post('job-stream', 'j1', 'a', { 'podplane-delivery': 'chosen-by-a-worker.1' })
    await agent.chunk('j1', 'a')
    const [first, second] = plane.taken.map(({ delivery }) => delivery.split('.'))
    expect(first?.[0]).toBe(second?.[0])
    expect(first?.[0]).toMatch(/^[A-Za-z0-9_-]{16}$/)
    expect(Number(second?.[1])).toBeGreaterThan(Number(first?.[1]))
  })

  test('[HOST-21] posts of one job that a worker sends at once arrive one after another', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'))
    plane.mood = 'hang'
    const first = agent.chunk('j1', '1')
    await expect.poll(() => plane.bodies(plane.arrivals), SOON).toEqual(['1'])
    const second = agent.chunk('j1', '2')
    const other = agent.chunk('j2', 'of another job')
    await expect.poll(() => plane.bodies(plane.arrivals), SOON).toEqual(['1', 'of another job'])
    plane.mood = 'take'
    plane.release()
    expect(await statuses([first, second, other])).toEqual([200, 200, 200])
    expect(plane.bodies()).toEqual(['1', 'of another job', '2'])
  })
})

describe('while the plane does not answer', () => {
  test.each(['away', 'fail', 'reset', 'throttle'] as const)(
    '[HOST-20, HOST-21] %s: posts are answered 200 from the disk and arrive in order',
    async (how) => {
      const plane = await openPlane()
      const agent = await Agent.start(plane, tempDir('spool'))
      await agent.chunk('j1', '1')
      if (how === 'away') await plane.close()
      else plane.mood = how
      const replies = ['2', '3'].map((body) => agent.chunk('j1', body))
      expect(await statuses(replies)).toEqual([200, 200])
      expect((await agent.chunk('j1', '4')).status).toBe(200)
      const reply = await agent.result('j1', '{"output":[]}')
      expect([reply.status, await reply.text()]).toEqual([200, '{}'])
      plane.mood = 'take'
      if (how === 'away') await plane.open()
      await agent.drained()
      expect(plane.bodies()).toEqual(['1', '2', '3', '4', '{"output":[]}'])
      expect(plane.taken.map(({ authorization, query }) => [authorization, query.get('boot')])).toEqual(plane.taken.map(() => [KEY, 'b1']))
      expect(plane.taken.at(-1)).toMatchObject({ path: 'job-done/w1/j1' })
    },
  )

  test('[HOST-22] a connection that breaks after the plane took a chunk: the repeat has the same number', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'))
    plane.mood = 'reset'
    expect((await agent.chunk('j1', '1')).status).toBe(200)
    await expect.poll(() => plane.arrivals.length, SOON).toBeGreaterThan(1)
    plane.mood = 'take'
    await agent.drained()
    expect(plane.taken).toHaveLength(1)
    expect(new Set(plane.arrivals.map(({ delivery }) => delivery)).size).toBe(1)
  })

  test('[HOST-20] a silent plane: the post is on disk after a moment, and accepted once when the answer arrives', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'), { spoolAfterMs: 20 })
    plane.mood = 'hang'
    expect((await agent.result('j1', 'r')).status).toBe(200)
    const [file = ''] = agent.files()
    const path = join(agent.spoolDir, file)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8')).toContain(KEY)
    plane.release()
    await agent.drained()
    expect(plane.arrivals).toHaveLength(1)
  })

  test('[HOST-21] a post after a kept one is answered from the disk at once, not at the next try', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'), { retryBaseMs: LONG_MS, retryMaxMs: LONG_MS })
    await plane.close()
    for (const body of ['1', '2', '3']) expect((await agent.chunk('j1', body)).status).toBe(200)
    expect(agent.files()).toHaveLength(3)
  })

  test('[HOST-20] an answer that comes while the post is being written leaves nothing on disk', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'), { spoolAfterMs: 1 })
    plane.mood = 'hang'
    for (let n = 0; n < 30; n += 1) {
      const reply = agent.result(`j${n}`, 'r')
      await expect.poll(() => plane.arrivals.length, { ...SOON, interval: 1 }).toBe(n + 1)
      plane.release()
      expect((await reply).status).toBe(200)
    }
    await agent.drained()
    expect(plane.arrivals).toHaveLength(30)
  })

  test('[HOST-20] a plane with a stalled connection is tried again under the same number', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'), { postIdleMs: 50 })
    plane.mood = 'hang'
    expect((await agent.result('j1', 'r')).status).toBe(200)
    await expect.poll(() => plane.arrivals.length, SOON).toBeGreaterThan(1)
    plane.mood = 'take'
    await agent.drained()
    expect(plane.taken).toHaveLength(1)
  })

  test('[HOST-20] the result of a worker that has ended meanwhile is delivered', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'))
    plane.mood = 'hang'
    const dying = request({
      host: '127.0.0.1',
      port: agent.relay.port,
      path: '/v2/ep/job-done/w1/j1?boot=b1',
      method: 'POST',
      headers: { authorization: KEY },
    })
    dying.on('error', () => {})
    dying.end('r')
    await expect.poll(() => plane.arrivals.length, SOON).toBe(1)
    dying.destroy()
    await plane.close()
    plane.mood = 'take'
    await expect.poll(() => agent.files().length, SOON).toBe(1)
    await plane.open()
    await agent.drained()
    expect(plane.bodies()).toEqual(['r'])
  })

  test('[HOST-21] failures of one job delay no other', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'))
    plane.failing = /j1$/
    await agent.chunk('j1', 'stuck')
    await agent.result('j1', 'behind it')
    const reply = await agent.result('j2', 'r')
    expect(await reply.text()).toBe('{"by":"plane"}')
    expect([plane.bodies(), agent.files().length]).toEqual([['r'], 2])
    plane.failing = /^$/
    await agent.drained()
    expect(plane.bodies()).toEqual(['r', 'stuck', 'behind it'])
  })

  test('[HOST-21, HOST-75] posts of a container under the name of another worker do not affect the posts of that worker', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'))
    const progress = JSON.stringify({ status: 'IN_PROGRESS', output: 1 })
    const forge = (body: string) => agent.post('job-done', 'j1', body, { authorization: keyOf('w2') })
    await plane.close()
    await agent.result('j1', progress)
    const before = agent.files()
    expect(await statuses([forge(progress), forge('{"output":"forged"}')])).toEqual([401, 401])
    expect(agent.files()).toEqual(before)
    await plane.open()
    await agent.ask('ping/w1?boot=b1')
    await agent.drained()
    expect(plane.arrivals.map(({ authorization, body }) => [authorization, body])).toEqual([[KEY, progress]])
    expect(plane.asked).toEqual(['/v2/ep/ping/w1?boot=b1'])
  })

  test('[HOST-23] a refusal ends a kept post with one line without secrets', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'))
    await plane.close()
    await agent.result('j1', 'refused')
    plane.mood = 'refuse'
    await plane.open()
    await agent.drained()
    expect(plane.arrivals).toHaveLength(1)
    const refusals = agent.lines.filter((line) => line.includes('refused'))
    expect(refusals.map((line) => JSON.parse(line))).toMatchObject([{ level: 'warn', path: '/v2/ep/job-done/w1/j1', status: 400 }])
    expect(agent.lines.join('')).not.toMatch(/ppw_|boot=|b1/)
  })

  test('[HOST-21] of undelivered progress only the newest stays, in its place', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'))
    await plane.close()
    const progress = (step: number) => agent.result('j1', JSON.stringify({ status: 'IN_PROGRESS', output: step }))
    await agent.chunk('j1', 'a')
    for (const step of [1, 2, 3]) expect((await progress(step)).status).toBe(200)
    expect(agent.files()).toHaveLength(2)
    await agent.chunk('j1', 'b')
    await progress(4)
    await agent.result('j1', 'r')
    await plane.open()
    await agent.drained()
    const updates = [3, 4].map((step) => JSON.stringify({ status: 'IN_PROGRESS', output: step }))
    expect(plane.bodies()).toEqual(['a', updates[0], 'b', updates[1], 'r'])
  })
})

describe('bounds', () => {
  test.each([
    ['entries', { spoolMaxEntries: 8 }],
    ['bytes', { spoolMaxBytes: 20_000 }],
  ])('[HOST-23] with no room left on disk (%s) a post is answered 503, and kept posts arrive', async (_, bounds) => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'), bounds)
    await plane.close()
    const body = 'x'.repeat(2_000)
    expect(await statuses([agent.result('j1', body), agent.result('j2', body)])).toEqual([200, 200])
    const refused = await agent.result('j3', body)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    expect((await agent.chunk('j1', body)).status).toBe(503)
    expect(agent.files()).toHaveLength(2)
    await plane.open()
    await agent.drained()
    expect(plane.taken.map(({ path }) => path).toSorted()).toEqual(['job-done/w1/j1', 'job-done/w1/j2'])
    expect((await agent.result('j3', body)).status).toBe(200)
  })

  test.each([
    ['entries', { spoolMaxEntries: 8 }],
    ['bytes', { spoolMaxBytes: 12_000 }],
  ])('[HOST-26] one container fills at most a quarter of the room on disk (%s)', async (_, bounds) => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'), bounds)
    await plane.close()
    const body = 'x'.repeat(1_000)
    const greedy = (job: string) => postAs('w2', agent.relay.port, job, body)
    expect([await greedy('j1'), await greedy('j2'), await greedy('j3')]).toEqual([200, 200, 503])
    expect(await postAs('w3', agent.relay.port, 'j4', body)).toBe(200)
    await plane.open()
    await agent.drained()
    expect(await greedy('j3')).toBe(200)
  })

  test('[HOST-26] one container holds at most a quarter of the memory, and so many connections', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'), { bufferMaxBytes: 8_000, callerMaxConnections: 2 })
    const { port } = agent.relay
    const open = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' })
    cleanups.push(() => open.destroy())
    await once(open, 'connect')
    expect(await postAs('w2', port, 'j1', 'x'.repeat(3_000))).toBe(503)
    expect(await postAs('w3', port, 'j1', 'x'.repeat(1_000))).toBe(200)
    const second = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' })
    cleanups.push(() => second.destroy())
    await once(second, 'connect')
    await expect(postAs('w2', port, 'j1', 'x')).rejects.toThrow()
    expect(await postAs('w3', port, 'j1', 'x')).toBe(200)
  })

  test('[HOST-23] an unwritable disk: 503, and a line with the reason', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'))
    await plane.close()
    rmSync(agent.spoolDir, { recursive: true })
    expect((await agent.result('j1', 'r')).status).toBe(503)
    expect(agent.lines.filter((line) => /cannot be stored on disk/.test(line))).toHaveLength(1)
    await plane.open()
    expect((await agent.result('j1', 'r')).status).toBe(200)
  })

  test('[HOST-20] posts on disk take no memory', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'), { bufferMaxBytes: 20_000 })
    await plane.close()
    const body = 'x'.repeat(2_000)
    for (const job of ['j1', 'j2', 'j3', 'j4']) expect((await agent.result(job, body)).status).toBe(200)
  })

  test('[HOST-23] a full disk does not turn a slow answer into a refusal', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'), { spoolMaxEntries: 0, spoolAfterMs: 10 })
    plane.mood = 'hang'
    const reply = agent.result('j1', 'r')
    await expect.poll(() => plane.arrivals.length, SOON).toBe(1)
    await realTime(50, 'the relay waits `spoolAfterMs` before it looks for room on disk, and shows nothing of what it finds')
    plane.release()
    expect((await reply).status).toBe(200)
  })

  test('[HOST-23] a post that waited too long is dropped with a log line', async () => {
    const plane = await openPlane()
    const spoolDir = tempDir('spool')
    const first = await Agent.start(plane, spoolDir)
    await plane.close()
    await first.result('j1', 'old')
    await first.relay.close()
    await plane.open()
    const second = await Agent.start(plane, spoolDir, { spoolMaxAgeMs: 0 })
    await second.drained()
    expect(plane.arrivals).toEqual([])
    expect(second.lines.filter((line) => /dropped/.test(line))).toHaveLength(1)
  })
})

describe('the next agent process', () => {
  test('[HOST-20, HOST-21] delivers the posts that the previous one kept, in order and before new ones', async () => {
    const plane = await openPlane()
    const spoolDir = tempDir('spool')
    const first = await Agent.start(plane, spoolDir)
    await plane.close()
    for (const body of ['1', '2', '3']) await first.chunk('j1', body)
    await first.relay.close()
    const second = await Agent.start(plane, spoolDir)
    expect((await second.chunk('j1', '4')).status).toBe(200)
    await second.result('j1', 'r')
    await plane.open()
    await second.drained()
    expect(plane.bodies()).toEqual(['1', '2', '3', '4', 'r'])
    const sessions = plane.taken.map(({ delivery }) => delivery.split('.')[0])
    expect(sessions.map((session) => session === sessions[0])).toEqual([true, true, true, false, false])
  })

  test('[HOST-20, HOST-22] repeats posts in flight at the end of the agent under their numbers', async () => {
    const plane = await openPlane()
    const spoolDir = tempDir('spool')
    const first = await Agent.start(plane, spoolDir)
    plane.mood = 'hang'
    const reply = first.chunk('j1', '1').then(
      ({ status }) => status,
      () => 'cut',
    )
    await expect.poll(() => plane.arrivals.length, SOON).toBe(1)
    await first.relay.close()
    expect(await reply).toBe(200)
    plane.mood = 'take'
    const second = await Agent.start(plane, spoolDir)
    await second.drained()
    expect([plane.arrivals.length, plane.taken.length]).toEqual([2, 1])
  })

  test('[HOST-20] [DUR-5] ignores torn files and drafts, but not results of an older agent', async () => {
    const plane = await openPlane()
    const spoolDir = tempDir('spool')
    const first = await Agent.start(plane, spoolDir)
    await plane.close()
    await first.result('j1', 'whole')
    await first.result('j2', 'torn')
    await first.relay.close()
    const torn = join(spoolDir, first.files()[1] ?? '')
    truncateSync(torn, statSync(torn).size - 1)
    writeFileSync(join(spoolDir, '000000000000009.post.draft'), '{"target"')
    writeFileSync(join(spoolDir, '000000000000010.post'), 'no line of JSON')
    const old = { target: '/v2/ep/job-done/w1/j0?boot=b1', headers: { authorization: KEY } }
    writeFileSync(join(spoolDir, '1700000000000.result'), `${JSON.stringify(old)}\nold`)
    await plane.open()
    const second = await Agent.start(plane, spoolDir)
    await second.drained()
    expect(plane.bodies().toSorted()).toEqual(['old', 'whole'])
    expect(second.lines.filter((line) => /an incomplete stored post/.test(line))).toHaveLength(1)
    expect(second.lines.filter((line) => /damaged and removed; .* the plane runs the job again/.test(line))).toHaveLength(2)
  })
})

describe('messages of a worker about itself', () => {
  test('[HOST-24] a plain ping is not written to disk, and of waiting ones the newest arrives', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'))
    plane.mood = 'fail'
    for (const job of ['j1', 'j2', 'j3']) expect(await agent.ask(`ping/w1?boot=b1&job_id=${job}`)).toBe(200)
    expect(agent.files()).toEqual([])
    plane.mood = 'take'
    await expect.poll(() => plane.asked, SOON).toEqual(['/v2/ep/ping/w1?boot=b1&job_id=j3'])
  })

  test('[HOST-24] a ping that reports the worker as unhealthy is kept', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'))
    await plane.close()
    expect(await agent.ask('ping/w1?boot=b1&status=unhealthy&check=gpu&reason=gone')).toBe(200)
    expect(agent.files()).toHaveLength(1)
    await plane.open()
    await agent.drained()
    expect(plane.taken.map(({ path, query }) => [path, query.get('reason')])).toEqual([['ping/w1', 'gone']])
  })

  test('[HOST-24, HOST-25] such a ping arrives after the results of that worker, also from disk in a later process', async () => {
    const plane = await openPlane()
    const spoolDir = tempDir('spool')
    const first = await Agent.start(plane, spoolDir, { spoolAfterMs: 20 })
    await plane.close()
    await first.result('j1', 'r')
    expect(await first.ask('ping/w1?boot=b1&status=unhealthy&check=gpu&reason=gone')).toBe(200)
    await first.relay.close()
    plane.failing = /j1$/
    await plane.open()
    const second = await Agent.start(plane, spoolDir)
    await expect.poll(() => plane.arrivals.length, SOON).toBeGreaterThan(1)
    plane.failing = /^$/
    await second.drained()
    expect(plane.taken.map(({ path }) => path)).toEqual(['job-done/w1/j1', 'ping/w1'])
  })

  test('[HOST-24] pings and takes name the jobs whose results wait here, until they are delivered', async () => {
    const plane = await openPlane()
    const agent = await Agent.start(plane, tempDir('spool'))
    plane.failing = /j1$/
    await agent.result('j1', 'r')
    await agent.ask('ping/w1?boot=b1')
    await agent.ask('ping/w2?boot=b1')
    await agent.ask('job-take/w1?boot=b1&job_in_progress=0')
    plane.failing = /^$/
    await agent.drained()
    await agent.ask('ping/w1?boot=b1')
    expect(plane.asked).toEqual([
      '/v2/ep/ping/w1?boot=b1&job_id=j1',
      '/v2/ep/ping/w2?boot=b1',
      '/v2/ep/job-take/w1?boot=b1&job_in_progress=1',
      '/v2/ep/ping/w1?boot=b1',
    ])
  })

  test('[HOST-24] the names are put into every form of these requests', () => {
    const received = (target: string) => {
      const route = parseRelayRoute('GET', target)
      return route && withRetainedJobs(route, ['a', 'b'])
    }
    expect(received('/v2/ep/ping/w1')).toBe('/v2/ep/ping/w1&job_id=a,b')
    expect(received('/v2/ep/ping/w1&boot=b1')).toBe('/v2/ep/ping/w1&boot=b1&job_id=a,b')
    expect(received('/v2/ep/ping/w1?job_id=b,c&x=1')).toBe('/v2/ep/ping/w1?job_id=b,c,a&x=1')
    expect(received('/v2/ep/ping/w1?job_id=')).toBe('/v2/ep/ping/w1?job_id=a,b')
    expect(received('/v2/ep/job-take/w1&job_in_progress=0')).toBe('/v2/ep/job-take/w1&job_in_progress=1')
    expect(received('/v2/ep/job-take-batch/w1?job_in_progress=0&batch_size=2')).toBe(
      '/v2/ep/job-take-batch/w1?job_in_progress=1&batch_size=2',
    )
    expect(received('/v2/ep/job-stop/w1?a=b')).toBe('/v2/ep/job-stop/w1?a=b')
  })
})

test('[HOST-25] the end of a worker is reported behind its posts, and that of another at once', async () => {
  const plane = await openPlane()
  const agent = await Agent.start(plane, tempDir('spool'))
  plane.failing = /j1$/
  await agent.result('j1', 'r')
  const events: string[] = []
  const send = sendBehindPosts(
    async (reports) => {
      events.push(`${reports[0]?.workloadId} ${reports[0]?.state} with ${plane.taken.length} results`)
      return 'taken'
    },
    [agent.relay],
  )
  const report = (workloadId: string, state: 'running' | 'exited') =>
    send([{ workloadId, state, exitCode: null, reason: null, at: 0, sequence: 1 }])
  await report('w2', 'exited')
  await report('w1', 'running')
  const exited = report('w1', 'exited')
  plane.failing = /^$/
  await exited
  expect(events).toEqual(['w2 exited with 0 results', 'w1 running with 0 results', 'w1 exited with 1 results'])
})
