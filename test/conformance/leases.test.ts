import { describe } from 'vitest'
import { realTime } from '../support/time.ts'
import type { PlayedEndpoint } from './support/endpoint.ts'
import { eventually } from './support/http.ts'
import { expect, scenario } from './support/scenario.ts'
import type { PlayedWorker, TakenJob } from './support/worker.ts'

/** LSE-2, LSE-7: multiples of `P`. */
const ACK_INTERVALS = 3
const SILENCE_INTERVALS = 4
/** Longer than any lease that is not renewed. */
const LONG_INTERVALS = 3 * SILENCE_INTERVALS

describe('lost results', () => {
  scenario('[INV-22] LSE-5: a job that two consecutive pings do not list is requeued', { workers: 1 }, async (endpoint) => {
    const { worker, job } = await takeOne(endpoint)
    await worker.ping()
    worker.holding.delete(job)
    expect((await requeued(endpoint, worker, job)).retries).toBe(1)
  })

  scenario(
    '[INV-22] LSE-5, WRK-22: one ping without the job between two with it does not lose the job',
    { workers: 1 },
    async (endpoint) => {
      const { worker, job } = await takeOne(endpoint)
      worker.mute()
      for (const listed of [[job], [], [job], [], [job]]) await worker.ping(listed)
      expect(await endpoint.status(job)).toMatchObject({ status: 'IN_PROGRESS' })
      await worker.done(job, { output: 1 })
      expect(await endpoint.status(job)).not.toHaveProperty('retries')
    },
  )

  scenario('[INV-22] LSE-3: a worker that takes work while it holds none has lost its job', { workers: 1 }, async (endpoint) => {
    const { worker, job } = await takeOne(endpoint)
    await worker.ping()
    // The SDK dropped the result; its pings do not show that yet.
    worker.mute()
    worker.holding.delete(job)
    const open = worker.takeReply()
    expect((await requeued(endpoint, worker, job)).retries).toBe(1)
    await open
  })

  scenario('[INV-22] LSE-3: a result that was in flight when its worker took work counts', { workers: 1 }, async (endpoint) => {
    const { worker, job } = await takeOne(endpoint)
    worker.holding.delete(job)
    const open = worker.takeReply<TakenJob>()
    await worker.done(job, { output: 'in flight' })
    expect(await endpoint.status(job)).toMatchObject({ status: 'COMPLETED', output: 'in flight', workerId: worker.id })
    const next = await endpoint.run()
    expect((await open).body.id).toBe(next)
  })
})

describe('takes whose answer is lost', () => {
  scenario(
    '[INV-23] LSE-1: a job is not given to a take whose connection broke, and no attempt is counted',
    { workers: 1 },
    async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const take = worker.openTake()
      await eventually('the take is open', async () => (await endpoint.health()).workers.idle === 1)
      take.reset()
      await realTime(1_000, 'the network brings the news in its own time')
      const job = await endpoint.run()
      expect(await endpoint.status(job)).toMatchObject({ status: 'IN_QUEUE' })
      // If there had been an attempt, this boot could not have the job (LSE-9).
      expect((await worker.takeJob()).id).toBe(job)
      expect(await endpoint.status(job)).not.toHaveProperty('retries')
    },
  )

  scenario('[INV-23] LSE-2: a job that its worker never confirms is requeued after 3 × P, not before', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const startedAt = performance.now()
    const job = await endpoint.run()
    await worker.takeJob()
    // The worker continues to ping, but the job never reached its local queue.
    worker.holding.delete(job)
    const view = await requeued(endpoint, worker, job)
    expect(performance.now() - startedAt).toBeGreaterThan(ACK_INTERVALS * worker.pingIntervalMs)
    // LSE-30: no worker has begun the job.
    expect(view).not.toHaveProperty('retries')
  })

  for (const sign of ['progress', 'chunk'] as const) {
    scenario(`[INV-23] LSE-2: a ${sign} confirms the job as a ping does`, { workers: 1 }, async (endpoint) => {
      const worker = await endpoint.nextWorker()
      worker.mute()
      const job = await endpoint.run()
      await worker.takeJob()
      await realTime((ACK_INTERVALS - 1) * worker.pingIntervalMs, 'a lease runs by the clock of the plane')
      // The worker is online, but its ping does not list the job yet.
      await worker.ping([])
      await worker[sign](job, { output: 1 })
      await realTime((ACK_INTERVALS - 1) * worker.pingIntervalMs, 'a lease runs by the clock of the plane')
      expect((await endpoint.status(job)).status).toBe('IN_PROGRESS')
    })
  }
})

describe('jobs that a worker pings', () => {
  scenario('[INV-24] LSE-4: a job in the pings of its worker stays there, however long it takes', { workers: 2 }, async (endpoint) => {
    const { worker, job } = await takeOne(endpoint)
    const idle = (await endpoint.nextWorker()).takeReply()
    await realTime(LONG_INTERVALS * worker.pingIntervalMs, 'a lease runs by the clock of the plane')
    const view = await endpoint.status(job)
    expect(view).toMatchObject({ status: 'IN_PROGRESS', workerId: worker.id })
    expect(view).not.toHaveProperty('retries')
    await worker.done(job, { output: 1 })
    expect(await endpoint.status(job)).toMatchObject({ status: 'COMPLETED', workerId: worker.id })
    expect((await endpoint.health()).jobs.retried).toBe(0)
    await endpoint.run()
    expect((await idle).status).toBe(200)
  })

  scenario('[INV-24] LSE-12: a ping of a worker that does not hold the job extends no lease', { workers: 2 }, async (endpoint) => {
    const { worker, job } = await takeOne(endpoint)
    const other = await endpoint.nextWorker()
    other.holding.add(job)
    worker.mute()
    await endpoint.reaches(job, 'IN_QUEUE')
  })
})

describe('silent workers', () => {
  scenario(
    '[INV-25] LSE-7, LSE-8: a worker without pings for 4 × P is UNHEALTHY and its jobs are requeued',
    { workers: 1 },
    async (endpoint) => {
      const { worker, job } = await takeOne(endpoint)
      worker.mute()
      const startedAt = performance.now()
      await worker.ping()
      expect((await requeued(endpoint, worker, job)).retries).toBe(1)
      expect(performance.now() - startedAt).toBeGreaterThan(SILENCE_INTERVALS * worker.pingIntervalMs)
      expect((await endpoint.health()).workers.unhealthy).toBe(1)
      const successor = await endpoint.nextWorker()
      expect((await successor.takeJob()).id).toBe(job)
    },
  )

  scenario('[INV-25] LSE-7: an idle worker that falls silent is UNHEALTHY too and gets no job', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    worker.mute()
    const open = worker.takeReply()
    await eventually('the worker is unhealthy', async () => (await endpoint.health()).workers.unhealthy === 1)
    const job = await endpoint.run()
    expect((await open).status).toBe(204)
    expect((await (await endpoint.nextWorker()).takeJob()).id).toBe(job)
  })
})

describe('fencing', () => {
  scenario(
    '[INV-26] LSE-10, LSE-12: no message of an old attempt counts once a newer one has started',
    { workers: 1 },
    async (endpoint) => {
      const { worker: old, job } = await takeOne(endpoint)
      await loseJob(endpoint, old, job)
      const next = await endpoint.nextWorker()
      expect((await next.takeJob()).id).toBe(job)
      for (const reply of [old.progress(job, 'old'), old.chunk(job, { output: 'old' }), old.done(job, { output: 'old' })]) {
        expect((await reply).status).toBe(200)
      }
      const view = await endpoint.status(job)
      expect(view).toMatchObject({ status: 'IN_PROGRESS', workerId: next.id })
      expect(view).not.toHaveProperty('output')
      await next.chunk(job, { output: 'new' })
      expect((await endpoint.stream(job)).stream).toEqual([{ output: 'new' }])
      // The worker still pings the job, so the plane orders it to stop the job.
      await old.ping([job])
      expect(await old.nextStop()).toContain(job)
      await next.done(job, { output: 'new' })
      await old.done(job, { output: 'old' })
      expect(await endpoint.status(job)).toMatchObject({ status: 'COMPLETED', output: 'new', workerId: next.id, retries: 1 })
      expect((await endpoint.health()).jobs).toMatchObject({ completed: 1, failed: 0, retried: 1 })
    },
  )

  scenario(
    '[INV-26] LSE-11: a late result before the rerun has started ends the job, which then runs once',
    { workers: 1 },
    async (endpoint) => {
      const { worker: old, job } = await takeOne(endpoint)
      await loseJob(endpoint, old, job)
      await old.progress(job, 'not final')
      await old.chunk(job, { output: 'not final' })
      expect((await endpoint.status(job)).status).toBe('IN_QUEUE')
      await old.done(job, { output: 'late but final' })
      expect(await endpoint.status(job)).toMatchObject({ status: 'COMPLETED', output: 'late but final', workerId: old.id })
      const other = await endpoint.run()
      const next = await endpoint.nextWorker()
      expect((await next.takeJob()).id).toBe(other)
      await next.done(other, { output: 1 })
      expect((await endpoint.health()).jobs).toMatchObject({ completed: 2, inQueue: 0, inProgress: 0 })
    },
  )

  scenario('[INV-26] LSE-12: unread chunks of a lost attempt are not part of the next', { workers: 1 }, async (endpoint) => {
    const { worker: old, job } = await takeOne(endpoint)
    await old.chunk(job, { output: 'read' })
    expect((await endpoint.stream(job)).stream).toEqual([{ output: 'read' }])
    await old.chunk(job, { output: 'unread' })
    await loseJob(endpoint, old, job)
    const next = await endpoint.nextWorker()
    await next.takeJob()
    await next.chunk(job, { output: 'again' })
    await next.done(job, { output: [] }, true)
    expect(await endpoint.stream(job)).toEqual({ status: 'COMPLETED', stream: [{ output: 'again' }] })
  })

  scenario(
    '[INV-27] LSE-9: a boot that lost a job never gets it again; another worker is started for it',
    { workers: 1 },
    async (endpoint) => {
      const { worker: old, job } = await takeOne(endpoint)
      await loseJob(endpoint, old, job)
      const asked = [old.takeReply<TakenJob>(), old.takeBatch(4)]
      const next = await endpoint.nextWorker()
      expect((await next.takeJob()).id).toBe(job)
      for (const reply of await Promise.all(asked)) expect([204, 429], reply.text).toContain(reply.status)
      expect([next.id, bootOf(next)]).not.toEqual([old.id, bootOf(old)])
      expect(await endpoint.status(job)).toMatchObject({ workerId: next.id, retries: 1 })
    },
  )
})

describe('the failure that a job reports', () => {
  scenario(
    '[INV-29] JOB-10, LSE-8: a job that two workers lost fails with the exact text and a separate cause',
    { workers: 1 },
    async (endpoint) => {
      const { worker: first, job } = await takeOne(endpoint)
      await loseJob(endpoint, first, job)
      const second = await endpoint.nextWorker()
      await second.takeJob()
      await second.ping()
      second.mute()
      const view = await endpoint.reaches(job, 'FAILED')
      expect(view).toMatchObject({ error: 'job timed out after 1 retries', retries: 1, workerId: second.id })
      expect(view.errorDetail).toEqual(expect.stringMatching(/\w/))
      expect(view.errorDetail).not.toBe(view.error)
    },
  )

  scenario(
    '[INV-29] JOB-10, TMO-2: a job past its executionTimeout fails with the exact text, although its worker pings it',
    { workers: 1 },
    async (endpoint, tenant) => {
      const worker = await endpoint.nextWorker()
      await tenant.changeEndpoint(endpoint.id, { timeout: 5_000 })
      const [own, inherited] = [await endpoint.run({}, { policy: { executionTimeout: 7_000 } }), await endpoint.run()]
      await worker.takeBatch(2)
      for (const [job, limitMs] of [
        [inherited, 5_000],
        [own, 7_000],
      ] as const) {
        const view = await endpoint.reaches(job, 'FAILED')
        expect(view).toMatchObject({ error: 'executionTimeout exceeded', workerId: worker.id })
        expect(view.executionTime).toBeGreaterThanOrEqual(limitMs)
        expect(view.errorDetail).toEqual(expect.stringMatching(/\w/))
        expect(view).not.toHaveProperty('retries')
      }
    },
  )
})

async function takeOne(endpoint: PlayedEndpoint): Promise<{ worker: PlayedWorker; job: string }> {
  const worker = await endpoint.nextWorker()
  const job = await endpoint.run()
  expect((await worker.takeJob()).id).toBe(job)
  return { worker, job }
}

/** Waits for the requeue of a job whose worker lost it. */
async function requeued(endpoint: PlayedEndpoint, worker: PlayedWorker, job: string) {
  return await endpoint.reaches(job, 'IN_QUEUE', (LONG_INTERVALS + 60) * worker.pingIntervalMs)
}

/**
 * A worker that confirmed its job is paused and returns after its lease has ended. Its container continues to run, whatever the platform
 * orders.
 */
async function loseJob(endpoint: PlayedEndpoint, worker: PlayedWorker, job: string): Promise<void> {
  worker.outlivesStop = true
  await worker.ping()
  worker.mute()
  await requeued(endpoint, worker, job)
}

function bootOf(worker: PlayedWorker): string | null {
  return new URL(worker.url('RUNPOD_WEBHOOK_PING')).searchParams.get('boot')
}
