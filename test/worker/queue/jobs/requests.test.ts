import { EVERY_JOB } from '../../../../src/domain/job/job-filter.ts'
import type { RequestBucket } from '../../../../src/domain/job/request-series.ts'
import { createKey, describe, env, expect, it, runInDurableObject, send } from '../../../support/harness.ts'
import { advance, freezeClock, inside, type QueueSetup, run, runAndTake, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'

const NO_WORKERS = { workers: { min: 0, max: 0, idleTimeout: 5 } }

describe('/requests', () => {
  it('[HLT-4] lists the status records, newest first, with the time of their creation', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, { output: { big: 1 } })
    const queued = await run(queue)
    const { requests } = (await queue.get('/requests')).body
    const createdAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    const record = (await queue.get(`/status/${jobId}`)).body
    expect(requests).toEqual([
      { createdAt, id: queued, status: 'IN_QUEUE' },
      { createdAt, ...record },
    ])
    expect(Object.keys(requests[1])).toEqual(['createdAt', ...Object.keys(record)])
  })

  it('[HLT-10] limit is clamped to 1…1000, unreadable means 100', async () => {
    const queue = await setUpQueue(NO_WORKERS)
    const first = await run(queue)
    const second = await run(queue)
    const ids = async (query: string) => ((await queue.get(`/requests${query}`)).body.requests as { id: string }[]).map(({ id }) => id)
    expect(await ids('?limit=1')).toEqual([second])
    for (const limit of ['0', '-5']) expect(await ids(`?limit=${limit}`), limit).toEqual([second])
    for (const limit of ['2', '1000', '9999', 'x', '']) expect(await ids(`?limit=${limit}`), limit).toEqual([second, first])
  })

  it('[HLT-10] at most a thousand are listed, a hundred without a limit', async () => {
    const queue = await setUpQueue(NO_WORKERS)
    await run(queue)
    await runInDurableObject(endpointStub(env, queue.endpointId), (object, state) => {
      const job = object.core.state.lists.page(null, EVERY_JOB, 1)[0]
      if (job?.state !== 'IN_QUEUE') throw new Error('no job')
      for (let n = 1; n <= 1_000; n++) object.core.state.jobs.insert({ ...job, seq: job.seq + n, id: `${job.id}-${n}` })
      expect(state.storage.sql.exec('SELECT COUNT(*) AS n FROM jobs').one().n).toBe(1_001)
    })
    expect((await queue.get('/requests')).body.requests).toHaveLength(100)
    expect((await queue.get('/requests?limit=1001')).body.requests).toHaveLength(1_000)
  })

  it('[HLT-10] leaves out an output above 4096 characters and marks it; a long error is truncated', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    const text = 'x'.repeat(4_096 - 2)
    await worker.done(jobId, { output: text })
    const larger = await run(queue)
    await worker.take()
    await worker.done(larger, { output: `${text}x` })
    const largest = await run(queue)
    await worker.take()
    await worker.done(largest, { output: 'ü'.repeat(600_000) })
    const failed = await run(queue)
    await worker.take()
    await worker.done(failed, { error: 'e'.repeat(4_097) })
    const { requests } = (await queue.get('/requests')).body
    expect(requests).toMatchObject([
      { id: failed, error: `${'e'.repeat(4_096)}…` },
      { id: largest, outputOmitted: true },
      { id: larger, outputOmitted: true },
      { id: jobId, output: text },
    ])
    expect(requests.map((request: object) => 'output' in request)).toEqual([false, false, false, true])
    expect(requests[3]).not.toHaveProperty('outputOmitted')
  })

  it('[JOB-8] does not list a job whose time is over, whether or not an alarm has fired', async () => {
    const queue = await setUpQueue(NO_WORKERS)
    await run(queue, {}, { ttl: 10_000 })
    const kept = await run(queue)
    await runInDurableObject(endpointStub(env, queue.endpointId), (object) => {
      const before = object.core.now
      object.core.now = () => before() + 10_001
    })
    const listed = (await queue.get('/requests')).body.requests as { id: string }[]
    expect(listed.map(({ id }) => id)).toEqual([kept])
  })

  it('[AUT-2] needs jobs:read, and GET', async () => {
    const queue = await setUpQueue(NO_WORKERS)
    const writeOnly = await createKey(queue.account.userId, { permission: 'RESTRICTED', scopes: ['jobs:write'] })
    for (const path of ['/requests', '/metrics']) {
      const url = `/v2/${queue.endpointId}${path}`
      expect((await send(url, { headers: { Authorization: `Bearer ${writeOnly.key}` } })).status, path).toBe(401)
      expect((await queue.post(path)).status, path).toBe(405)
      for (const more of ['/x', '/', '/request_ts_v1/x']) expect((await queue.get(path + more)).status, path + more).toBe(404)
    }
  })
})

describe('/metrics', () => {
  it('[HLT-4, HLT-11] names the running workers, and counts as /health does', async () => {
    const queue = await setUpQueue()
    expect((await queue.get('/metrics')).body).toEqual({
      readyWorkers: [],
      workers: { idle: 0, initializing: 0, ready: 0, running: 0, throttled: 0, unhealthy: 0 },
    })
    const { jobId, worker } = await runAndTake(queue)
    const busy = (await queue.get('/metrics')).body
    expect(busy).toEqual({ readyWorkers: [worker.id], workers: (await queue.get('/health')).body.workers })
    expect(busy.workers).toMatchObject({ running: 1, ready: 0 })
    await worker.done(jobId, { output: 1 })
    expect((await queue.get('/metrics')).body).toMatchObject({ readyWorkers: [worker.id], workers: { idle: 1, ready: 1 } })
    await queue.host.report(worker.id, { state: 'exited', exitCode: 1, reason: 'crash' })
    await advance(queue.endpointId, 1)
    expect((await queue.get('/metrics')).body).toMatchObject({ readyWorkers: [], workers: { unhealthy: 1 } })
  })
})

describe('/metrics/request_ts_v1', () => {
  const seriesOf = async (queue: QueueSetup, query = '') =>
    (await queue.get(`/metrics/request_ts_v1${query}`)).body as { interval: string; series: RequestBucket[] }
  const countsOf = ({ completed, failed, retried }: RequestBucket) => [completed, failed, retried]

  it('[HLT-4, HLT-12] counts ended jobs, under the minute and the hour of their end', async () => {
    const queue = await setUpQueue()
    await advance(queue.endpointId, 5_400_000 - (Date.now() % 3_600_000)) // the middle of an hour
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, { output: 1 })
    const failing = await run(queue)
    await worker.take()
    await worker.done(failing, { error: 'boom' })
    const first = await seriesOf(queue)
    expect([first.interval, first.series.length]).toEqual(['h', 24])
    expect(first.series.slice(0, -1).every((bucket) => countsOf(bucket).every((count) => count === 0))).toBe(true)
    expect(countsOf(first.series.at(-1) as RequestBucket)).toEqual([1, 1, 0])
    await advance(queue.endpointId, 3_600_000)
    const later = await seriesOf(queue)
    expect(later.series.slice(-2).map(countsOf)).toEqual([
      [1, 1, 0],
      [0, 0, 0],
    ])
    expect(later.series.at(-2)?.start).toBe(first.series.at(-1)?.start)
    expect((await seriesOf(queue, '?interval=d')).series.map(countsOf).at(-1)?.[0]).toBeTypeOf('number')
    expect((await seriesOf(queue, '?interval=m')).series).toHaveLength(60)
  })

  it('[HLT-12] writes a row a minute, not a job, and keeps seven days of them', async () => {
    const queue = await setUpQueue()
    const rows = () =>
      runInDurableObject(endpointStub(env, queue.endpointId), (object) => object.core.state.series.samples().map(({ minute }) => minute))
    const { jobId, worker } = await runAndTake(queue)
    await freezeClock(queue.endpointId)
    const finish = async (id: string) => {
      await worker.done(id, { output: 1 })
      return (await rows()).length
    }
    const one = await finish(jobId)
    expect(one).toBe(1)
    for (let more = 0; more < 2; more++) {
      const id = await run(queue)
      await worker.take()
      expect(await finish(id)).toBe(one)
    }
    await run(queue)
    expect((await rows()).length, 'nothing was counted').toBe(one)
    await advance(queue.endpointId, 8 * 86_400_000)
    await inside(queue, ({ core }) => core.transact(({ state }) => state.meta.add('completed')))
    expect(await rows()).toHaveLength(1)
  })
})
