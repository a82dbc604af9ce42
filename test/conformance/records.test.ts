import { describe } from 'vitest'
import { realTime } from '../support/time.ts'
import type { JobView, PlayedEndpoint } from './support/endpoint.ts'
import { eventually } from './support/http.ts'
import { expect, scenario } from './support/scenario.ts'

/** Smallest `ttl` (RUN-5). */
const TTL_MS = 10_000
/** LIM-4, after `/runsync`. */
const RETENTION_MS = 60_000
const READS = ['status', 'status-sync', 'stream']

function expectTerminal(view: JobView, wanted: Partial<JobView>): void {
  expect(view).toMatchObject(wanted)
  for (const key of ['delayTime', 'executionTime'] as const) {
    expect(Number.isInteger(view[key]), `${key}: ${view[key]}`).toBe(true)
    expect(view[key], key).toBeGreaterThanOrEqual(0)
  }
  expect(view.workerId).toEqual(expect.any(String))
  expect(view.id).toMatch(/^[A-Za-z0-9_-]+$/)
}

/** The answer of every route for a finished job. */
async function readAll(endpoint: PlayedEndpoint, job: string): Promise<JobView[]> {
  return [await endpoint.status(job), (await endpoint.call('GET', `status-sync/${job}`)).body]
}

describe('terminal records', () => {
  scenario(
    '[INV-7] JOB-3, API-8: COMPLETED and FAILED replies carry all five keys, times as integers',
    { workers: 1 },
    async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const outcomes = [
        { post: { output: { ok: true } }, wanted: { status: 'COMPLETED', output: { ok: true } } },
        { post: { error: 'no such model' }, wanted: { status: 'FAILED', error: 'no such model' } },
      ]
      for (const { post, wanted } of outcomes) {
        const sync = endpoint.call('POST', 'runsync', { body: { input: {} } })
        const { id } = await worker.takeJob()
        await realTime(150, 'executionTime')
        await worker.done(id, post)
        const views = [(await sync).body, ...(await readAll(endpoint, id))]
        for (const view of views) expectTerminal(view, { ...wanted, id, workerId: worker.id })
        expect(views[0]?.executionTime).toBeGreaterThanOrEqual(100)
      }
    },
  )

  scenario('[INV-7] JOB-3: a job that never ran has an empty workerId, executionTime 0 and its time in the queue', {}, async (endpoint) => {
    const job = await endpoint.run()
    await realTime(300, 'delayTime')
    const cancelled = (await endpoint.call('POST', `cancel/${job}`)).body
    for (const view of [cancelled, ...(await readAll(endpoint, job))]) {
      expectTerminal(view, { id: job, status: 'CANCELLED', workerId: '', executionTime: 0 })
      expect(view.delayTime).toBeGreaterThanOrEqual(250)
    }
  })

  scenario(
    '[INV-7] JOB-5: delayTime runs from the submission to the start of the attempt and does not move later',
    { workers: 1 },
    async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const job = await endpoint.run()
      await realTime(500, 'delayTime')
      await worker.takeJob()
      const running = await endpoint.status(job)
      expect(running).toMatchObject({ status: 'IN_PROGRESS', workerId: worker.id })
      expect(running.delayTime).toBeGreaterThanOrEqual(450)
      await worker.done(job, { output: 1 })
      expect((await endpoint.status(job)).delayTime).toBe(running.delayTime)
    },
  )
})

describe('expiry of keys and records', () => {
  scenario('[INV-8] API-9, JOB-4: error is a string on FAILED alone; retries is present only above 0', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const good = await endpoint.run()
    expectAbsent(await endpoint.status(good), ['error', 'retries', 'output', 'executionTime'])
    await worker.takeJob()
    await worker.progress(good, { error: 'not one' })
    expectAbsent(await endpoint.status(good), ['error', 'retries'])
    await worker.done(good, { output: 1 })
    expectAbsent(await endpoint.status(good), ['error', 'retries'])
    const bad = await endpoint.run()
    await worker.takeJob()
    await worker.done(bad, { error: { message: 'as a dict', code: 7 }, output: { partial: true } })
    const view = await endpoint.status(bad)
    expect(JSON.parse(view.error ?? '')).toEqual({ message: 'as a dict', code: 7 })
    expect(view).toMatchObject({ status: 'FAILED', output: { partial: true } })
    expectAbsent(view, ['retries'])
  })

  scenario('[INV-8] JOB-4: a requeued job shows retries and no error, until it fails', { workers: 1 }, async (endpoint) => {
    const first = await endpoint.nextWorker()
    const job = await endpoint.run()
    await first.takeJob()
    await first.ping()
    first.holding.delete(job)
    await eventually('the job is back in the queue', async () => (await endpoint.status(job)).status === 'IN_QUEUE')
    const requeued = await endpoint.status(job)
    expect(requeued.retries).toBe(1)
    expectAbsent(requeued, ['error', 'errorDetail', 'executionTime', 'output'])
    const second = await endpoint.nextWorker()
    await second.takeJob()
    expectAbsent(await endpoint.status(job), ['error', 'errorDetail'])
    await second.done(job, { error: 'for good' })
    expectTerminal(await endpoint.status(job), { status: 'FAILED', error: 'for good', retries: 1 })
  })
})

describe('lookups and deletion of records', () => {
  scenario('[INV-9] API-13: status finds a job right after run, every time', {}, async (endpoint) => {
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        const reply = await endpoint.call('POST', 'run', { body: { input: {} } })
        expect(reply.body).toEqual({ id: expect.any(String), status: 'IN_QUEUE' })
        expect(await endpoint.status(reply.body.id)).toMatchObject({ id: reply.body.id, status: 'IN_QUEUE' })
      }),
    )
  })

  for (const where of ['body', 'query']) {
    scenario(
      `[INV-9] JOB-9, RUN-6: a queued job is deleted once the ttl of its ${where} has passed, also for held calls`,
      {},
      async (endpoint) => {
        const startedAt = performance.now()
        const body = { input: {}, ...(where === 'body' ? { policy: { ttl: TTL_MS } } : {}) }
        const submitted = await endpoint.call('POST', where === 'body' ? 'run?ttl=60000' : `run?ttl=${TTL_MS}`, { body })
        const job = submitted.body.id
        // A read never shortens the retention of a job.
        expect((await endpoint.call('GET', `status/${job}?ttl=10`)).status).toBe(200)
        const held = await endpoint.call('GET', `status-sync/${job}?wait=60000`)
        expect(held.status).toBe(404)
        expect(performance.now() - startedAt).toBeGreaterThan(TTL_MS)
        await expectDropped(endpoint, job)
      },
    )
  }

  scenario('[INV-9] JOB-9: ttl deletes a finished job too, before the end of its retention', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const job = await endpoint.run({}, { policy: { ttl: TTL_MS } })
    await worker.takeJob()
    await worker.done(job, { output: 1 })
    expect((await endpoint.status(job)).status).toBe('COMPLETED')
    await endpoint.isDropped(job)
    await expectDropped(endpoint, job)
  })

  scenario('[INV-9] JOB-8, LIM-4: the result of a runsync is retained for a minute and then deleted', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const sync = endpoint.call('POST', 'runsync', { body: { input: {} } })
    const { id } = await worker.takeJob()
    const finishedAt = performance.now()
    await worker.done(id, { output: 1 })
    expect((await sync).body.status).toBe('COMPLETED')
    await endpoint.isDropped(id, RETENTION_MS * 2)
    expect(performance.now() - finishedAt).toBeGreaterThan(RETENTION_MS)
    await expectDropped(endpoint, id)
  })
})

function expectAbsent(view: JobView, keys: (keyof JobView)[]): void {
  for (const key of keys) expect(view, JSON.stringify(view)).not.toHaveProperty(key)
}

async function expectDropped(endpoint: PlayedEndpoint, job: string): Promise<void> {
  for (const read of READS) {
    for (const method of ['GET', 'POST']) {
      const reply = await endpoint.call(method, `${read}/${job}`)
      expect({ status: reply.status, body: reply.body }, `${method} ${read}`).toMatchObject({ status: 404, body: { status: 404 } })
    }
  }
  for (const act of ['cancel', 'retry']) expect((await endpoint.call('POST', `${act}/${job}`)).status, act).toBe(404)
}
