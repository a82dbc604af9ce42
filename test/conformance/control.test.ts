import { describe } from 'vitest'
import type { ErrorView, PlayedEndpoint } from './support/endpoint.ts'
import { expect, scenario } from './support/scenario.ts'

interface PurgeView {
  removed: number
  status: string
}

describe('cancel', () => {
  scenario('[INV-12] CTL-1: cancel ends a queued and a running job, and is idempotent', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const running = await endpoint.run()
    await worker.takeJob()
    const queued = await endpoint.run()
    for (const job of [running, queued]) {
      const first = await endpoint.call('POST', `cancel/${job}`)
      expect(first.body).toMatchObject({ id: job, status: 'CANCELLED' })
      for (let again = 0; again < 3; again += 1) expect((await endpoint.call('POST', `cancel/${job}`)).body).toEqual(first.body)
      expect(await endpoint.status(job)).toEqual(first.body)
    }
  })

  scenario('[INV-12] CTL-1: cancel of a finished job returns its record and changes nothing', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    for (const post of [{ output: 'kept' }, { error: 'kept' }]) {
      const job = await endpoint.run()
      await worker.takeJob()
      await worker.done(job, post)
      const before = await endpoint.status(job)
      const reply = await endpoint.call('POST', `cancel/${job}`)
      expect({ status: reply.status, body: reply.body }).toEqual({ status: 200, body: before })
      expect(await endpoint.status(job)).toEqual(before)
    }
  })
})

describe('retry', () => {
  scenario(
    '[INV-12] CTL-2: a failed job runs again under its id with its input, without its old outcome',
    { workers: 1 },
    async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const input = { prompt: 'again', list: [1, { two: 2 }] }
      const job = await endpoint.run(input)
      await worker.takeJob()
      await worker.done(job, { error: 'once', output: { partial: true } })
      const reply = await endpoint.call('POST', `retry/${job}`)
      expect(reply.body).toEqual({ id: job, status: 'IN_QUEUE' })
      const view = await endpoint.status(job)
      for (const key of ['error', 'output', 'retries', 'executionTime']) expect(view).not.toHaveProperty(key)
      // LSE-9: this boot has already held the job, so another worker gets it.
      const [next, open] = await Promise.all([endpoint.nextWorker(), worker.take()])
      expect(open).toBeNull()
      expect(await next.takeJob()).toMatchObject({ id: job, input })
      await next.done(job, { output: 'second' })
      const done = await endpoint.status(job)
      expect(done).toMatchObject({ status: 'COMPLETED', output: 'second', workerId: next.id })
      expect(done).not.toHaveProperty('error')
    },
  )

  scenario('[INV-12] CTL-2: every other state is 400 and stays unchanged', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const running = await endpoint.run()
    await worker.takeJob()
    const queued = await endpoint.run()
    const cancelled = await endpoint.run()
    await endpoint.call('POST', `cancel/${cancelled}`)
    await expectNoRetry(endpoint, queued, 'IN_QUEUE')
    await expectNoRetry(endpoint, running, 'IN_PROGRESS')
    await expectNoRetry(endpoint, cancelled, 'CANCELLED')
    await worker.done(running, { output: 1 })
    await expectNoRetry(endpoint, running, 'COMPLETED')
  })
})

describe('purge-queue', () => {
  scenario('[INV-12] CTL-3: purge cancels queued jobs and leaves running and finished ones', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const over = await endpoint.run()
    await worker.takeJob()
    await worker.done(over, { output: 1 })
    const running = await endpoint.run()
    await worker.takeJob()
    const queued = await Promise.all([1, 2, 3].map(() => endpoint.run()))
    const low = await endpoint.run({}, { policy: { lowPriority: true } })
    expect((await endpoint.call<PurgeView>('POST', 'purge-queue')).body).toEqual({ removed: 4, status: 'completed' })
    for (const job of [...queued, low]) expect((await endpoint.status(job)).status).toBe('CANCELLED')
    expect((await endpoint.status(running)).status).toBe('IN_PROGRESS')
    expect((await endpoint.status(over)).status).toBe('COMPLETED')
    expect((await endpoint.call<PurgeView>('POST', 'purge-queue')).body).toEqual({ removed: 0, status: 'completed' })
    await worker.done(running, { output: 2 })
    expect(await endpoint.status(running)).toMatchObject({ status: 'COMPLETED', output: 2 })
  })
})

async function expectNoRetry(endpoint: PlayedEndpoint, job: string, state: string): Promise<void> {
  const reply = await endpoint.call<ErrorView>('POST', `retry/${job}`)
  expect(reply.status, state).toBe(400)
  expect(reply.body.detail).toContain(state)
  expect((await endpoint.status(job)).status).toBe(state)
}
