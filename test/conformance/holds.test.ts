import { describe } from 'vitest'
import { realTime } from '../support/time.ts'
import type { StreamView } from './support/endpoint.ts'
import { type Reply, within } from './support/http.ts'
import { expect, scenario } from './support/scenario.ts'

/** Clients abort these calls after this time (API-15). */
const SIMPLE_CALL_MS = 3_000
/** The machine of the test may be busy for a moment: one of this many calls must be in time. */
const ATTEMPTS = 3
/** GO1 aborts a held call this long after its `wait`. */
const AFTER_WAIT_MS = 2_000
/** Timers are not exact to the millisecond. */
const GRAIN_MS = 50
/** A hold that a test ends long before its timeout. */
const LONG_WAIT = 'wait=120000'
const RELEASED_MS = 30_000

describe('simple calls', () => {
  scenario(
    '[INV-2] API-15: run, status, cancel, health and purge-queue are answered within 3 s beside a queue and a held take',
    { workers: 1 },
    async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const running = await endpoint.run()
      await worker.takeJob()
      for (let batch = 0; batch < 6; batch += 1) {
        await Promise.all(Array.from({ length: 50 }, () => endpoint.run({ text: 'x'.repeat(1_000) })))
      }
      const queued = await endpoint.run()
      const calls: Record<string, () => Promise<Reply<unknown>>> = {
        run: () => endpoint.call('POST', 'run', { body: { input: {} } }),
        'status of a running job': () => endpoint.call('GET', `status/${running}`),
        'status of a queued job': () => endpoint.call('GET', `status/${queued}`),
        'cancel of a queued job': () => endpoint.call('POST', `cancel/${queued}`),
        health: () => endpoint.call('GET', 'health'),
      }
      for (const [what, send] of Object.entries(calls)) await expectInTime(what, ATTEMPTS, send)
      // Two of these calls are allowed in ten seconds.
      await expectInTime('purge-queue', 1, () => endpoint.call('POST', 'purge-queue'))
      await expectInTime('cancel of a running job', 1, () => endpoint.call('POST', `cancel/${running}`))
    },
  )
})

describe('held calls', () => {
  for (const operation of ['status-sync', 'stream'] as const) {
    for (const method of ['GET', 'POST']) {
      scenario(
        `[INV-3] API-11, TMO-4: ${method} ${operation} is held until wait and then returns the current state`,
        {},
        async (endpoint) => {
          const job = await endpoint.run()
          const reply = await expectHeld(3_000, () => endpoint.call(method, `${operation}/${job}?wait=3000`))
          expect(reply.body.status).toBe('IN_QUEUE')
        },
      )
    }
  }

  scenario(
    '[INV-3] RUN-4: runsync whose wait expires returns the current record, and its job continues',
    { workers: 1 },
    async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const held = endpoint.call('POST', 'runsync?wait=3000', { body: { input: {} } })
      const { id } = await worker.takeJob()
      const reply = await held
      expect(reply.elapsedMs).toBeGreaterThan(3_000 - GRAIN_MS)
      expect(reply.elapsedMs).toBeLessThan(RELEASED_MS)
      expect(reply.body).toMatchObject({ id, status: 'IN_PROGRESS', workerId: worker.id })
      await worker.done(id, { output: 'late' })
      expect(await endpoint.status(id)).toMatchObject({ status: 'COMPLETED', output: 'late' })
    },
  )

  scenario('[INV-3] API-11: a wait below 1000 is read as 1000, a wait that is no number as the default', {}, async (endpoint) => {
    const job = await endpoint.run()
    await expectHeld(1_000, () => endpoint.call('GET', `status-sync/${job}?wait=1`))
    // The default of stream is 10 s.
    await expectHeld(10_000, () => endpoint.call('GET', `stream/${job}?wait=soon`))
    await expectHeld(10_000, () => endpoint.call('GET', `stream/${job}`))
  })

  scenario('[INV-3] RUN-4: runsync is answered at once when the job has finished', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const held = endpoint.call('POST', `runsync?${LONG_WAIT}`, { body: { input: {} } })
    const { id } = await worker.takeJob()
    expect(id).toMatch(/^sync-/)
    await worker.done(id, { output: 'now' })
    const reply = await within('runsync is released', held, RELEASED_MS)
    expect(reply.body).toMatchObject({ id, status: 'COMPLETED', output: 'now' })
  })

  scenario(
    '[INV-3] STA-1: several status-sync calls are all answered at once when the job ends, also when it is cancelled',
    { workers: 1 },
    async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const done = await endpoint.run()
      const cancelled = await endpoint.run()
      const held = [done, done, cancelled].map((job) => endpoint.call('POST', `status-sync/${job}?${LONG_WAIT}`))
      await worker.takeJob()
      await worker.done(done, { output: 'now' })
      await endpoint.call('POST', `cancel/${cancelled}`)
      const replies = await within('status-sync is released', Promise.all(held), RELEASED_MS)
      expect(replies.map((reply) => reply.body.status)).toEqual(['COMPLETED', 'COMPLETED', 'CANCELLED'])
      expect((await endpoint.call('GET', `status-sync/${done}?${LONG_WAIT}`)).elapsedMs).toBeLessThan(RELEASED_MS)
    },
  )

  scenario('[INV-3] STR-6: a held stream is answered at once with a chunk, and at the end', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const job = await endpoint.run()
    const first = endpoint.call<StreamView>('GET', `stream/${job}?${LONG_WAIT}`)
    await worker.takeJob()
    await worker.chunk(job, { output: 1 })
    expect((await within('the chunk arrives', first, RELEASED_MS)).body).toEqual({ status: 'IN_PROGRESS', stream: [{ output: 1 }] })
    const last = endpoint.call<StreamView>('GET', `stream/${job}?${LONG_WAIT}`)
    await worker.done(job, { output: [] }, true)
    expect((await within('the end arrives', last, RELEASED_MS)).body).toEqual({ status: 'COMPLETED', stream: [] })
  })

  scenario('[INV-3] RUN-4: a client that disconnects from its runsync leaves the job unchanged', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const leaving = new AbortController()
    const held = endpoint.call('POST', `runsync?${LONG_WAIT}`, { body: { input: {} }, signal: leaving.signal })
    const left = expect(held).rejects.toThrow()
    const { id } = await worker.takeJob()
    leaving.abort()
    await left
    await realTime(1_000, 'the plane hears of a client that left in its own time')
    expect((await endpoint.status(id)).status).toBe('IN_PROGRESS')
    await worker.done(id, { output: 1 })
    expect((await endpoint.status(id)).status).toBe('COMPLETED')
  })
})

/**
 * Expects a call to be held for its wait and no longer than its client stays. One of several tries must succeed, because the machine may
 * be busy.
 */
async function expectHeld<Body>(waitMs: number, send: () => Promise<Reply<Body>>): Promise<Reply<Body>> {
  let reply = await send()
  for (let attempt = 1; attempt < ATTEMPTS && reply.elapsedMs >= waitMs + AFTER_WAIT_MS; attempt += 1) reply = await send()
  expect(reply.status).toBe(200)
  expect(reply.elapsedMs).toBeGreaterThan(waitMs - GRAIN_MS)
  expect(reply.elapsedMs).toBeLessThan(waitMs + AFTER_WAIT_MS)
  return reply
}

async function expectInTime(what: string, attempts: number, send: () => Promise<Reply<unknown>>): Promise<void> {
  const times: number[] = []
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const reply = await send()
    expect(reply.status, what).toBe(200)
    times.push(reply.elapsedMs)
  }
  expect(Math.min(...times), what).toBeLessThan(SIMPLE_CALL_MS)
}
