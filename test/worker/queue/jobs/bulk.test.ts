import { STEP_JOBS } from '../../../../durable-objects/endpoint/engine/bulk-steps.ts'
import { formatJobId } from '../../../../src/domain/job/id.ts'
import { EVERY_JOB } from '../../../../src/domain/job/job-filter.ts'
import { auditRows } from '../../../support/access/audited.ts'
import {
  api,
  createAccount,
  describe,
  env,
  expect,
  it,
  runDurableObjectAlarm,
  runInDurableObject,
  teamOf,
} from '../../../support/harness.ts'
import { advance, type QueueSetup, run, runAndTake, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'

const NO_WORKERS = { workers: { min: 0, max: 0, idleTimeout: 5 } }

/** Queues `count` jobs, all but the first without a call. */
async function fill(queue: QueueSetup, count: number): Promise<string[]> {
  return [await run(queue), ...(await add(queue, count - 1))]
}

async function add(queue: QueueSetup, count: number): Promise<string[]> {
  return runInDurableObject(endpointStub(env, queue.endpointId), ({ core }, { storage }) =>
    storage.transactionSync(() => {
      const { jobs, lists, meta } = core.state
      const [job] = lists.page(null, EVERY_JOB, 1)
      if (job?.state !== 'IN_QUEUE') throw new Error('no job')
      const more = Array.from({ length: count }, () => {
        const seq = jobs.nextSequence()
        return { ...job, seq, orderKey: seq, id: formatJobId(seq, false, meta.idMask(), new Uint8Array(10)) }
      })
      for (const one of more) jobs.insert(one)
      return more.map(({ id }) => id)
    }),
  )
}

async function begin(queue: QueueSetup, action: string, body: object, query = '') {
  const { status, body: bulk } = await queue.post(`/requests/${action}${query}`, body)
  expect(status, JSON.stringify(bulk)).toBe(200)
  return bulk
}

/** Waits until the object's alarm has finished the bulk change. */
async function finish(queue: QueueSetup, id: string) {
  for (let steps = 0; steps < 50; steps++) {
    const { body } = await queue.get(`/requests/bulk/${id}`)
    if (body.status === 'DONE') return body
    await runDurableObjectAlarm(endpointStub(env, queue.endpointId))
  }
  throw new Error('it does not end')
}

const statusOf = async (queue: QueueSetup, id: string) => (await queue.get(`/status/${id}`)).body.status

describe('a bulk change of jobs', () => {
  it('[JOB-44] has a plan that counts its effects and changes nothing', async () => {
    const queue = await setUpQueue()
    const { jobId: running } = await runAndTake(queue)
    const waiting = await run(queue)
    const before = (await queue.get('/requests')).body
    const plan = await begin(queue, 'cancel', { status: ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED'] }, '?dryRun=true')
    expect(plan).toMatchObject({
      id: null,
      status: 'PLANNED',
      matched: 2,
      byStatus: { IN_QUEUE: 1, IN_PROGRESS: 1 },
      ids: [running, waiting],
      estimatedCostUsd: null,
      looked: 0,
      finishedAt: null,
    })
    expect((await queue.get('/requests')).body).toEqual(before)
    expect(await runInDurableObject(endpointStub(env, queue.endpointId), ({ core }) => core.state.bulks.running())).toEqual([])
  })

  it('[JOB-47] has a plan that counts unchangeable jobs with the reason, and names each skipped job', async () => {
    const queue = await setUpQueue()
    const { jobId: done, worker } = await runAndTake(queue)
    await worker.done(done, { output: 1 })
    const running = await run(queue)
    await worker.take()
    const waiting = await run(queue)
    const over = { status: 'COMPLETED', jobs: 1, reason: 'it is over' }
    const from = '2020-01-01T00:00:00Z'
    expect((await begin(queue, 'cancel', { from }, '?dryRun=true')).refused).toEqual([over])
    expect((await begin(queue, 'cancel', { status: ['IN_QUEUE'] }, '?dryRun=true')).refused).toEqual([])
    expect((await begin(queue, 'retry', { ids: [done, running, 'none'] }, '?dryRun=true')).refused).toEqual([
      { status: 'IN_PROGRESS', jobs: 1, reason: 'it is not over' },
      { status: 'COMPLETED', jobs: 1, reason: 'only jobs that failed or timed out can be retried' },
      { status: null, jobs: 1, reason: 'there is no such job' },
    ])
    const bulk = await begin(queue, 'cancel', { ids: [running, waiting] })
    await worker.done(running, { output: 2 })
    const { changed, skipped, left } = await finish(queue, bulk.id)
    // The alarm may have cancelled the job before the worker finished it.
    expect(left).toEqual(skipped === 0 ? [] : [{ id: running, status: 'COMPLETED', reason: 'it is over' }])
    expect([changed + skipped, await statusOf(queue, waiting)]).toEqual([2, 'CANCELLED'])
  })

  it('[JOB-44, JOB-45] cancels queued jobs in steps, and not later ones', async () => {
    const queue = await setUpQueue(NO_WORKERS)
    const ids = await fill(queue, STEP_JOBS + 20)
    const bulk = await begin(queue, 'cancel', { status: ['IN_QUEUE'], expected: ids.length })
    expect(bulk).toMatchObject({ status: 'RUNNING', matched: ids.length })
    const [later = ''] = await add(queue, 1)
    const done = await finish(queue, bulk.id)
    expect(done).toMatchObject({ status: 'DONE', looked: ids.length, changed: ids.length, skipped: 0 })
    expect((await queue.get('/health')).body.jobs.inQueue).toBe(1)
    expect(await statusOf(queue, later)).toBe('IN_QUEUE')
    expect(await statusOf(queue, ids[0] ?? '')).toBe('CANCELLED')
    const rows = await auditRows("team_id = ? AND action = 'jobs.bulk-cancel'", await teamOf(queue.account))
    expect(rows).toHaveLength(1)
  })

  it('[JOB-44, JOB-45, JOB-50] queues failed jobs again, skips those that have changed meanwhile, and estimates its cost', async () => {
    const queue = await setUpQueue()
    const { jobId: good, worker } = await runAndTake(queue)
    await worker.done(good, { output: 1 })
    const failed: string[] = []
    for (let n = 0; n < 3; n++) {
      const id = await run(queue)
      await worker.take()
      if (n === 0) await advance(queue.endpointId, 8_000)
      await worker.done(id, { error: 'boom' })
      failed.push(id)
    }
    const plan = await begin(queue, 'retry', { ids: [...failed, good, 'none'] }, '?dryRun=1')
    expect(plan).toMatchObject({ matched: 3, byStatus: { FAILED: 3 }, ids: failed })
    expect(plan.estimatedCostUsd).toBeGreaterThanOrEqual(0)
    const [long = '', short = ''] = failed
    const costOf = async (ids: string[]) => (await begin(queue, 'retry', { ids }, '?dryRun=1')).estimatedCostUsd ?? 0
    expect(await costOf([long])).toBeGreaterThan(20 * (await costOf([short])))
    expect(await costOf([long, short])).toBeGreaterThanOrEqual(await costOf([long]))
    const bulk = await begin(queue, 'retry', { ids: failed })
    // One job may change before the alarm runs.
    await runInDurableObject(endpointStub(env, queue.endpointId), ({ core }) => core.state.bulks.running().length)
    const done = await finish(queue, bulk.id)
    expect(done.changed + done.skipped).toBe(3)
    for (const id of failed) expect(['IN_QUEUE', 'IN_PROGRESS']).toContain(await statusOf(queue, id))
    expect(await statusOf(queue, good)).toBe('COMPLETED')
    const stale = await queue.post('/requests/retry', { ids: failed, expected: 3 })
    expect([stale.status, stale.body.detail]).toEqual([409, expect.stringContaining('stale')])
  })

  it('[JOB-44, JOB-46] is refused when it would mean all jobs by accident, has too many ids, or too many are running', async () => {
    const queue = await setUpQueue(NO_WORKERS)
    const many = Array.from({ length: 1_001 }, (_, n) => `id-${n}`)
    for (const body of [{}, { expected: 1 }, { status: [] }, { status: ['DONE'] }, { ids: many }, { all: true }]) {
      expect((await queue.post('/requests/cancel', body)).status, JSON.stringify(body).slice(0, 50)).toBe(400)
    }
    const otherTenant = api((await createAccount()).key)
    expect((await otherTenant.post(`/v2/${queue.endpointId}/requests/cancel`, { status: ['IN_QUEUE'] })).status).toBe(404)
    expect((await queue.get('/requests/bulk/none')).status).toBe(404)
    await run(queue)
    await runInDurableObject(endpointStub(env, queue.endpointId), ({ core }) => {
      const bulk = { action: 'cancel', want: { states: [], fromMs: null, toMs: null, fromSeq: 0, beforeSeq: 0, seqs: null } } as const
      const rest = {
        matched: 1,
        byStatus: {},
        sample: [],
        refused: [],
        left: [],
        estimatedCostUsd: null,
        position: 0,
        createdAtMs: 0,
        finishedAtMs: null,
      }
      const counts = { looked: 0, changed: 0, skipped: 0 }
      for (let n = 0; n < 4; n++) core.state.bulks.save({ id: `b${n}`, ...bulk, want: { ...bulk.want, states: [] }, ...rest, ...counts })
    })
    expect((await queue.post('/requests/cancel', { status: ['IN_QUEUE'] })).status).toBe(409)
  })
})
