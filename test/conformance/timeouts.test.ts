import { describe } from 'vitest'
import { realTime } from '../support/time.ts'
import type { PlayedEndpoint } from './support/endpoint.ts'
import { within } from './support/http.ts'
import { expect, scenario } from './support/scenario.ts'

/** TMO-7. */
const STOP_GRACE_MS = 30_000
const TTL_MS = 10_000
const EXECUTION_TIMEOUT_MS = 5_000

/** The three ways to stop a running job: its submission, the action of a client, and the resulting view. */
const STOPS = [
  {
    what: 'cancel',
    policy: {},
    async stop(endpoint: PlayedEndpoint, job: string) {
      expect((await endpoint.call('POST', `cancel/${job}`)).body.status).toBe('CANCELLED')
    },
    async settled(endpoint: PlayedEndpoint, job: string) {
      expect((await endpoint.status(job)).status).toBe('CANCELLED')
    },
  },
  {
    what: 'executionTimeout',
    policy: { executionTimeout: EXECUTION_TIMEOUT_MS },
    async stop(endpoint: PlayedEndpoint, job: string) {
      await endpoint.reaches(job, 'FAILED')
    },
    async settled(endpoint: PlayedEndpoint, job: string) {
      expect(await endpoint.status(job)).toMatchObject({ status: 'FAILED', error: 'executionTimeout exceeded' })
    },
  },
  {
    what: 'ttl',
    policy: { ttl: TTL_MS },
    async stop(endpoint: PlayedEndpoint, job: string) {
      await endpoint.isDropped(job)
    },
    async settled(endpoint: PlayedEndpoint, job: string) {
      expect((await endpoint.call('GET', `status/${job}`)).status).toBe(404)
    },
  },
]

describe('stopping a running job', () => {
  for (const { what, policy, stop, settled } of STOPS) {
    scenario(
      `[INV-28] TMO, WRK-25, WRK-26: ${what} ends the job at once and stops it on its worker, which continues with other jobs`,
      { workers: 1 },
      async (endpoint) => {
        const worker = await endpoint.nextWorker()
        const job = await endpoint.run({}, { policy })
        await worker.takeJob()
        const received = worker.nextStop()
        await stop(endpoint, job)
        expect(await received).toEqual([job])
        // The handler was cancelled: it posts nothing, and its worker takes the next job.
        worker.holding.delete(job)
        await settled(endpoint, job)
        const next = await endpoint.run()
        expect((await worker.takeJob()).id).toBe(next)
        await worker.done(next, { output: 1 })
        expect((await endpoint.status(next)).status).toBe('COMPLETED')
        await settled(endpoint, job)
      },
    )

    scenario(`[INV-28] TMO-7, WRK-26: a worker that still pings its job 30 s after ${what} is killed`, { workers: 1 }, async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const startedAt = performance.now()
      const job = await endpoint.run({}, { policy })
      await worker.takeJob()
      await stop(endpoint, job)
      await worker.done(job, { output: 'too late' })
      await settled(endpoint, job)
      worker.holding.add(job)
      const killed = await within('the worker is killed', worker.stopOrdered, STOP_GRACE_MS * 3)
      expect(performance.now() - startedAt).toBeGreaterThan(STOP_GRACE_MS)
      expect(killed).toMatchObject({ id: worker.id, stopGraceMs: 0 })
      const next = await endpoint.run()
      expect((await (await endpoint.nextWorker()).takeJob()).id).toBe(next)
      await settled(endpoint, job)
    })
  }

  scenario(
    '[INV-28] TMO-2: executionTimeout counts from the start of each attempt, not from the submission',
    { workers: 1 },
    async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const blocker = await endpoint.run()
      await worker.takeJob()
      const submittedAt = performance.now()
      const job = await endpoint.run({}, { policy: { executionTimeout: EXECUTION_TIMEOUT_MS } })
      await realTime(EXECUTION_TIMEOUT_MS + 500, 'the queue outlasts the timeout')
      expect((await endpoint.status(job)).status).toBe('IN_QUEUE')
      await worker.done(blocker, { output: 1 })
      const takenAt = performance.now()
      await worker.takeJob()
      const view = await endpoint.reaches(job, 'FAILED')
      expect(performance.now() - takenAt).toBeGreaterThan(EXECUTION_TIMEOUT_MS - 1)
      expect(performance.now() - submittedAt).toBeGreaterThan(2 * EXECUTION_TIMEOUT_MS)
      expect(view.delayTime).toBeGreaterThanOrEqual(EXECUTION_TIMEOUT_MS)
    },
  )
})
