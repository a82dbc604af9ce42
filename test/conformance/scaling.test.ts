import { describe } from 'vitest'
import { realTime } from '../support/time.ts'
import { expect, scenario } from './support/scenario.ts'

const LOW = { policy: { lowPriority: true } }
const NORMAL = { policy: { lowPriority: false } }
/** Twice the default queue delay (SCALE-2): every worker that was due to start has started. */
const SETTLED_MS = 8_000

describe('low priority', () => {
  scenario(
    '[INV-33] SCALE-4: low-priority jobs start no worker; a worker started for others runs them',
    { maxWorkers: 2 },
    async (endpoint) => {
      const low = [await endpoint.run({ n: 1 }, LOW), await endpoint.run({ n: 2 }, LOW)]
      await realTime(SETTLED_MS, 'a start after the queue delay would have been seen')
      expect(endpoint.workers.length).toBe(0)
      expect((await endpoint.health()).workers).toEqual({ idle: 0, initializing: 0, ready: 0, running: 0, throttled: 0, unhealthy: 0 })
      expect((await endpoint.health()).jobs.inQueue).toBe(2)
      const normal = await endpoint.run({}, NORMAL)
      const worker = await endpoint.nextWorker()
      for (const job of [normal, ...low]) {
        expect((await worker.takeJob()).id).toBe(job)
        await worker.done(job, { output: 1 })
      }
    },
  )

  scenario(
    '[INV-33] SCALE-3, SCALE-4: low-priority jobs do not count towards REQUEST_COUNT',
    { maxWorkers: 5, scaling: { type: 'REQUEST_COUNT', requestCount: 1 } },
    async (endpoint) => {
      for (let n = 0; n < 4; n += 1) await endpoint.run({ n }, LOW)
      const normal = await endpoint.run({}, NORMAL)
      const worker = await endpoint.nextWorker()
      await realTime(SETTLED_MS, 'a start after the queue delay would have been seen')
      expect(endpoint.workers.length).toBe(0)
      expect((await worker.takeJob()).id).toBe(normal)
    },
  )

  scenario('[INV-33] SCALE-4: low-priority jobs run when no other job waits, each kind in its order', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const low1 = await endpoint.run({}, LOW)
    const normal1 = await endpoint.run()
    const low2 = await endpoint.run({}, LOW)
    const normal2 = await endpoint.run({}, NORMAL)
    for (const job of [normal1, normal2, low1]) {
      expect((await worker.takeJob()).id).toBe(job)
      await worker.done(job, { output: 1 })
    }
    const normal3 = await endpoint.run()
    const { body } = await worker.takeBatch(5)
    expect(body.map(({ id }) => id)).toEqual([normal3, low2])
  })
})
