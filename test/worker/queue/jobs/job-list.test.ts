import { MAX_SCANNED } from '../../../../durable-objects/endpoint/client/job-list.ts'
import type { EndpointCore } from '../../../../durable-objects/endpoint/core.ts'
import type { JobState } from '../../../../src/contract/enums.ts'
import { formatJobId, parseJobSeq } from '../../../../src/domain/job/id.ts'
import { canRetry, finishJob, isTerminal, retryJob } from '../../../../src/domain/job/job.ts'
import { EVERY_JOB } from '../../../../src/domain/job/job-filter.ts'
import { recordStatements } from '../../../support/cost/statements.ts'
import { describe, env, expect, it, runInDurableObject } from '../../../support/harness.ts'
import { advance, inside, type QueueSetup, run, runAndTake, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'

const NO_WORKERS = { workers: { min: 0, max: 0, idleTimeout: 5 } }
const STATES: readonly JobState[] = ['IN_QUEUE', 'COMPLETED', 'FAILED', 'CANCELLED']
const RANDOM = new Uint8Array(10)

interface Listing {
  ids: string[]
  next: string | null
}

async function list(queue: QueueSetup, query: string): Promise<Listing> {
  const { status, body } = await queue.get(`/requests?${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body.pagination.hasNextPage).toBe(body.pagination.nextCursor !== null)
  return { ids: body.requests.map(({ id }: { id: string }) => id), next: body.pagination.nextCursor }
}

/** All pages, joined, as a client walks them. */
async function walk(queue: QueueSetup, query: string): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = []
  let cursor = ''
  for (let pages = 1; ; pages++) {
    const page = await list(queue, `${query}&cursor=${cursor}`)
    ids.push(...page.ids)
    if (page.next === null) return { ids, pages }
    cursor = page.next
  }
}

/** Rows as this number of submissions and ends leaves them, one second apart. */
async function fill(queue: QueueSetup, count: number, stateOf: (n: number) => JobState): Promise<string[]> {
  await run(queue)
  return runInDurableObject(endpointStub(env, queue.endpointId), (object, state) => {
    const { jobs, lists, meta } = object.core.state
    const first = lists.page(null, EVERY_JOB, 1)[0]
    if (first?.state !== 'IN_QUEUE') throw new Error('no job')
    const ids = [first.id]
    state.storage.transactionSync(() => {
      for (let n = 1; n < count; n++) {
        const seq = jobs.nextSequence()
        const job = {
          ...first,
          seq,
          orderKey: seq,
          id: formatJobId(seq, false, meta.idMask(), RANDOM),
          createdAtMs: first.createdAtMs + n * 1_000,
        }
        jobs.insert(job)
        const end = stateOf(n)
        if (isTerminal(end)) jobs.save(job, { ...finishJob(job, end, job.createdAtMs), retentionMs: 80_000_000 })
        ids.push(job.id)
      }
    })
    return ids
  })
}

/** Rows that the object's database reads for a query. */
async function rowsRead(queue: QueueSetup, query: string): Promise<number> {
  return runInDurableObject(endpointStub(env, queue.endpointId), async (object, state) => {
    const recording = recordStatements(state.storage.sql)
    const reply = await object.fetch(new Request(`http://x/v2/${queue.endpointId}/requests?${query}`))
    const cursors = recording.stop().map(({ cursor }) => cursor)
    expect(reply.status).toBe(200)
    return cursors.reduce((sum, cursor) => sum + cursor.rowsRead, 0)
  })
}

/** Queues failed jobs again, as `/retry` does. */
async function retry(queue: QueueSetup, ids: readonly string[]): Promise<void> {
  await runInDurableObject(endpointStub(env, queue.endpointId), ({ core }, state) => {
    const { jobs, meta } = core.state
    state.storage.transactionSync(() => {
      for (const id of ids) {
        const job = jobs.bySeq(parseJobSeq(id, meta.idMask()) ?? 0)
        if (job && canRetry(job)) jobs.save(job, retryJob(job, jobs.nextSequence()))
      }
    })
  })
}

describe('/requests with a filter', () => {
  it('[JOB-40, JOB-41] lists jobs of several states in pages that join without gap or repeat', async () => {
    const queue = await setUpQueue(NO_WORKERS)
    const ids = await fill(queue, 40, (n) => STATES[n % 4] ?? 'IN_QUEUE')
    const newest = [...ids].reverse()
    expect(await walk(queue, 'limit=7')).toEqual({ ids: newest, pages: 6 })
    const some = newest.filter((_, index) => [1, 2].includes((39 - index) % 4))
    expect(await walk(queue, 'status=COMPLETED,FAILED&limit=3')).toEqual({ ids: some, pages: 7 })
    expect(await list(queue, 'status=IN_PROGRESS')).toEqual({ ids: [], next: null })
  })

  it('[JOB-40, JOB-41] lists queued jobs by their age, whatever their priority and however often they were retried', async () => {
    const queue = await setUpQueue(NO_WORKERS)
    const ids = await fill(queue, 40, (n) => STATES[n % 4] ?? 'IN_QUEUE')
    await retry(
      queue,
      ids.filter((_, n) => n % 8 === 2),
    )
    const low = await run(queue, {}, { lowPriority: true })
    const queued = [...ids.filter((_, n) => n % 4 === 0 || n % 8 === 2), low].reverse()
    expect(await walk(queue, 'status=IN_QUEUE&limit=4')).toEqual({ ids: queued, pages: 4 })
    const plan = await queue.post('/requests/cancel?dryRun=true', { status: ['IN_QUEUE'] })
    expect([plan.status, plan.body.matched, plan.body.ids]).toEqual([200, 16, [...queued].reverse()])
  })

  it('[JOB-40] lists by the time of creation, and by how the id begins', async () => {
    const queue = await setUpQueue(NO_WORKERS)
    const ids = await fill(queue, 20, () => 'COMPLETED')
    const { body } = await queue.get(`/requests?id=${ids[0]}`)
    const startMs = await runInDurableObject(
      endpointStub(env, queue.endpointId),
      ({ core }) => core.state.lists.page(null, EVERY_JOB, 20)[19]?.createdAtMs ?? 0,
    )
    expect(body.requests.map(({ id }: { id: string }) => id)).toEqual([ids[0]])
    const at = (n: number) => encodeURIComponent(new Date(startMs + n * 1_000).toISOString())
    expect((await list(queue, `from=${at(5)}&to=${at(8)}`)).ids).toEqual([ids[7], ids[6], ids[5]])
    expect((await list(queue, `from=${at(18)}`)).ids).toEqual([ids[19], ids[18]])
    expect((await list(queue, `to=${at(1)}`)).ids).toEqual([ids[0]])
    expect((await list(queue, `from=${at(99)}`)).ids).toEqual([])
    const prefix = (ids[3] ?? '').slice(0, 12)
    expect((await list(queue, `id=${prefix}`)).ids).toEqual(ids.filter((id) => id.startsWith(prefix)).reverse())
    expect((await list(queue, `id=${prefix}&status=FAILED`)).ids).toEqual([])
  })

  it('[JOB-40] lists a job under its current state alone, also when only time has changed that state', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, { output: 1 })
    const running = await run(queue)
    await worker.take()
    await advance(queue.endpointId, 60_000)
    expect((await list(queue, 'status=COMPLETED')).ids).toEqual([jobId])
    const { state } = { state: (await queue.get(`/status/${running}`)).body.status }
    for (const other of ['IN_QUEUE', 'IN_PROGRESS', 'FAILED']) {
      expect((await list(queue, `status=${other}`)).ids, other).toEqual(other === state ? [running] : [])
    }
  })

  it('[JOB-41, JOB-42] finds completed jobs below a long queue at once, and page by page where the previous release completed them', async () => {
    const queue = await setUpQueue({ workers: { min: 0, max: 1, idleTimeout: 5 } })
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, { output: 1 })
    const others = await fill(queue, 2 * MAX_SCANNED, (n) => (n === 1 ? 'FAILED' : 'IN_QUEUE'))
    const core = <T>(act: (core: EndpointCore) => T) => inside(queue, (object) => act(object.core))
    // As in an object that was just loaded.
    await core(({ state }) => {
      state.jobs.newestCompleted = 0
    })
    expect(await list(queue, 'status=COMPLETED')).toEqual({ ids: [jobId], next: null })
    expect((await walk(queue, 'status=COMPLETED,FAILED')).ids).toEqual([others[1], jobId])
    // As the previous release counts a job that completes.
    await core(({ state }) => state.meta.add('completed'))
    expect(await core(({ state }) => state.newestCompleted())).toBeNull()
    expect((await list(queue, 'status=COMPLETED')).ids).toEqual([])
    expect(await walk(queue, 'status=COMPLETED')).toEqual({ ids: [jobId], pages: 3 })
    await core((parts) => parts.transact(() => undefined))
    expect(await core(({ state }) => state.newestCompleted() === state.jobs.lastSequence)).toBe(true)
    expect(await walk(queue, 'status=COMPLETED')).toEqual({ ids: [jobId], pages: 3 })
  })

  it('[JOB-40] names the parameter that it cannot read', async () => {
    const queue = await setUpQueue(NO_WORKERS)
    const bad = await queue.get('/requests?status=NONE')
    expect([bad.status, bad.body.detail]).toEqual([400, expect.stringMatching(/^\$\.status: /)])
    expect((await queue.get('/requests?cursor=7')).status).toBe(400)
  })

  it('[JOB-41, JOB-42] reads as few rows for a page of 100,000 queued jobs as of ten, also of those that were retried', async () => {
    const queue = await setUpQueue(NO_WORKERS)
    const ids = await fill(queue, 100_000, (n) => (n % 10 === 0 ? 'FAILED' : 'IN_QUEUE'))
    const first = await rowsRead(queue, 'limit=10&status=IN_QUEUE')
    await retry(
      queue,
      ids.filter((_, n) => n > 0 && n % 1_000 === 0),
    )
    const figures = [
      first,
      // The newest positions are those of retried jobs, whose index entries are skipped.
      (await rowsRead(queue, 'limit=10&status=IN_QUEUE')) - 99,
      await rowsRead(queue, `limit=10&status=IN_QUEUE&cursor=${ids[50_000]}`),
      await rowsRead(queue, `limit=10&status=IN_QUEUE&cursor=${ids[100]}`),
    ]
    expect(Math.max(...figures), JSON.stringify(figures)).toBeLessThan(100)
  })

  it('[JOB-41, JOB-42] reads as few rows for the last page of 100,000 jobs as for the first', { timeout: 120_000 }, async () => {
    const queue = await setUpQueue(NO_WORKERS)
    const ids = await fill(queue, 100_000, (n) => (n % 1_000 === 0 ? 'FAILED' : 'COMPLETED'))
    const last = `cursor=${ids[101]}`
    const figures = [
      await rowsRead(queue, 'limit=100'),
      await rowsRead(queue, `limit=100&${last}`),
      await rowsRead(queue, 'limit=10&status=FAILED'),
      await rowsRead(queue, `limit=10&status=FAILED&cursor=${ids[11_000]}`),
      await rowsRead(queue, `id=${ids[50_000]}`),
    ]
    expect(Math.min(...figures), JSON.stringify(figures)).toBeGreaterThan(0)
    expect(Math.max(...figures), JSON.stringify(figures)).toBeLessThan(700)
  })
})
