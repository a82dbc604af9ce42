import { afterEach, describe, expect, test } from 'vitest'
import type { RelayBounds } from '../../../src/host-agent/relay/bounds.ts'
import { StandingPings } from '../../../src/host-agent/relay/channel/standing-pings.ts'
import type { AgentFrame } from '../../../src/host-protocol/worker-channel.ts'
import { realTime, until } from '../../support/time.ts'
import { channelScene, openChannel, type Scene } from '../support/channel-scene.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const HOUR_MS = 3_600_000

/** A relay with an open channel to a plane that takes standing pings, every `pingMs`. */
async function welcomed(more: Partial<RelayBounds> = {}, pingMs = HOUR_MS): Promise<Scene> {
  const scene = await channelScene(more, pingMs)
  cleanups.push(() => scene.close())
  await openChannel(scene)
  scene.plane.frames.length = 0
  return scene
}

const typesOf = ({ plane }: Scene) => plane.frames.map(({ type }) => type)
const take = ({ call }: Scene, more = '') => call(`job-take/w1?boot=b1&job_in_progress=0${more}`)

describe('a poll of a worker that polls again and again', () => {
  test('[CHN-31] is one call of the channel, whose job goes to the next poll or to the one that waits', async () => {
    const scene = await welcomed({ pollHoldMs: 30 })
    for (let count = 0; count < 3; count += 1) expect((await take(scene)).status).toBe(204)
    expect(typesOf(scene)).toEqual(['take'])
    // Between two polls.
    scene.plane.submit('j1')
    expect(await (await take(scene)).json()).toEqual({ id: 'j1' })
    const next = take(scene)
    await until(() => typesOf(scene).length === 2)
    scene.plane.submit('j2')
    expect(await (await next).json()).toEqual({ id: 'j2' })
    expect(typesOf(scene)).toEqual(['take', 'take'])
    expect(scene.plane.httpCalls).toEqual([])
  })

  test('[CHN-31] a stop order between two stop polls goes to the next one', async () => {
    const scene = await welcomed({ pollHoldMs: 30 })
    expect((await scene.call('job-stop/w1?boot=b1')).status).toBe(204)
    scene.plane.say({ type: 'stop', n: scene.plane.frames[0] && 'n' in scene.plane.frames[0] ? scene.plane.frames[0].n : 0, jobs: ['j1'] })
    await realTime(50, 'the frame reaches the agent, which shows nothing of it')
    expect(await (await scene.call('job-stop/w1?boot=b1')).json()).toEqual({ jobsToStop: ['j1'] })
  })

  test('[CHN-31] ends when the worker polls otherwise; a job that came meanwhile is asked for again', async () => {
    const scene = await welcomed({ pollHoldMs: 30 })
    await take(scene)
    const busy = scene.call('job-take/w1?boot=b1&job_in_progress=1')
    await until(() => typesOf(scene).length === 3)
    expect(typesOf(scene)).toEqual(['take', 'leave', 'take'])
    expect((await busy).status).toBe(204)
    scene.plane.submit('j1')
    await realTime(50, 'the frame reaches the agent, which shows nothing of it')
    // The plane has given `j1` to the poll of before.
    const idle = await take(scene)
    expect(scene.plane.frames.at(-1)).toMatchObject({ type: 'take', idle: true, again: true })
    expect(await idle.json()).toEqual({ id: 'j1' })
  })

  test('[CHN-31] a worker that goes away ends its poll at once', async () => {
    const scene = await welcomed({ pollHoldMs: 30_000 })
    const gone = new AbortController()
    const poll = scene.call('job-take/w1?boot=b1', { signal: gone.signal }).catch(() => 'gone')
    await until(() => typesOf(scene).length === 1)
    gone.abort()
    await poll
    await until(() => typesOf(scene).includes('leave'))
  })

  test('[CHN-31] a channel that ends with a kept job asks for it again over HTTP', async () => {
    const scene = await welcomed({ pollHoldMs: 30 })
    await take(scene)
    scene.plane.submit('j1')
    await realTime(50, 'the frame reaches the agent, which shows nothing of it')
    for (const socket of scene.plane.sockets) socket.terminate()
    await until(() => scene.plane.sockets.size === 0)
    scene.plane.refusals.push(500, 500, 500)
    await realTime(50, 'the frame reaches the agent, which shows nothing of it')
    // The first poll over HTTP does not know; the plane ends an unconfirmed lease by itself (LSE-2).
    expect([200, 204]).toContain((await take(scene)).status)
  })
})

describe('pings of a worker', () => {
  const ping = ({ call }: Scene, jobs = '') => call(`ping/w1?boot=b1${jobs && `&job_id=${jobs}`}`)
  const pingsOf = ({ plane }: Scene) =>
    plane.frames.flatMap((frame) => (frame.type === 'pings' ? frame.pings.map(({ jobs, stands }) => [jobs.join(), stands ?? false]) : []))

  async function settle(scene: Scene, jobs = ''): Promise<void> {
    for (let count = 0; count < 3; count += 1) {
      const before = pingsOf(scene).length
      await ping(scene, jobs)
      await until(() => pingsOf(scene).length > before)
    }
  }

  test('[CHN-30] are sent until three in a row are equal, and again once they change', { timeout: 20_000 }, async () => {
    const scene = await welcomed()
    await settle(scene, 'j1')
    for (let count = 0; count < 3; count += 1) await ping(scene, 'j1')
    await ping(scene)
    await until(() => pingsOf(scene).length === 4)
    expect(pingsOf(scene)).toEqual([
      ['j1', true],
      ['j1', true],
      ['j1', true],
      ['', true],
    ])
  })

  test.each([
    ['the plane asks for them', async ({ plane }: Scene) => plane.say({ type: 'recall', workers: ['w1'] })],
    ['the worker posts', async ({ call }: Scene) => call('job-stream/w1/j1?boot=b1', { method: 'POST', body: '{"output":1}' })],
    ['the worker posts over HTTP', async ({ call }: Scene) => call('job-done/w1/j1?boot=b1', { method: 'POST', body: 'x'.repeat(65_537) })],
    [
      'the worker gets a job',
      async (scene: Scene) => {
        scene.plane.submit('j2')
        await take(scene)
      },
    ],
  ])('[CHN-30] are sent again when %s', { timeout: 20_000 }, async (_, event) => {
    const scene = await welcomed({ pollHoldMs: 1_000 })
    await settle(scene)
    await event(scene)
    await realTime(50, 'the frame reaches the agent, which shows nothing of it')
    await ping(scene)
    await until(() => pingsOf(scene).length === 4)
    expect(pingsOf(scene).at(-1)).toEqual(['', true])
  })

  test('[CHN-30] that have ended are withdrawn, with the time since the last one; a hello names those that stand', {
    timeout: 20_000,
  }, async () => {
    const scene = await welcomed({}, 3_000)
    await settle(scene)
    scene.plane.wake()
    await until(() => typesOf(scene).includes('hello'))
    expect(scene.plane.frames.at(-1)).toEqual({ type: 'hello', takes: [], listens: [], standing: [{ worker: 'w1', boot: 'b1' }] })
    await until(() => typesOf(scene).includes('quiet'), 15_000)
    const quiet = scene.plane.frames.find((frame): frame is Extract<AgentFrame, { type: 'quiet' }> => frame.type === 'quiet')
    expect(quiet?.workers).toMatchObject([{ worker: 'w1', boot: 'b1' }])
    expect(quiet?.workers[0]?.silentMs).toBeGreaterThan(6_000)
  })

  test('[CHN-30] a plane that does not welcome the agent gets each ping and each poll', { timeout: 20_000 }, async () => {
    const scene = await channelScene({ pollHoldMs: 30 })
    cleanups.push(() => scene.close())
    await openChannel(scene)
    scene.plane.frames.length = 0
    for (let count = 0; count < 5; count += 1) {
      const before = pingsOf(scene).length
      await ping(scene)
      await until(() => pingsOf(scene).length > before)
    }
    expect(pingsOf(scene).every(([, stands]) => stands === false)).toBe(true)
    await take(scene)
    await until(() => typesOf(scene).includes('leave'))
  })
})

test('[CHN-30] a worker that restarts, or pings other jobs, is another one to answer for', () => {
  const pings = new StandingPings(10_000)
  const one = { worker: 'w', boot: 'b', jobs: ['j1', 'j2'], sdkVersion: null }
  const isSent = (ping: typeof one) => pings.take(ping, 0) !== undefined
  expect([isSent(one), isSent(one), isSent({ ...one, jobs: ['j2', 'j1'] }), isSent(one), isSent(one)]).toEqual([
    true,
    true,
    true,
    false,
    false,
  ])
  expect(pings.take({ ...one, boot: 'c' }, 0)).toEqual({ ...one, boot: 'c', stands: true })
  expect(pings.standing()).toEqual([{ worker: 'w', boot: 'c' }])
  expect(pings.takeQuiet(20_000)).toEqual([])
  expect(pings.takeQuiet(20_001)).toEqual([{ worker: 'w', boot: 'c', silentMs: 20_001 }])
  expect([pings.takeQuiet(50_000), pings.standing()]).toEqual([[], []])
  expect(pings.take(one, 20_001)).toEqual({ ...one, stands: true })
})
