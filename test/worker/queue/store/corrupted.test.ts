import { JobStore } from '../../../../durable-objects/endpoint/store/jobs/job-store.ts'
import { Undo } from '../../../../durable-objects/endpoint/store/undo.ts'
import {
  afterEach,
  api,
  beforeEach,
  describe,
  env,
  evictDurableObject,
  expect,
  it,
  runDurableObjectAlarm,
  vi,
} from '../../../support/harness.ts'
import { inside, type QueueSetup, run, runAndTake, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'

/** After the ttl of every job here. */
const LATER_MS = 400 * 24 * 3_600_000

const errors: string[] = []
beforeEach(() => {
  errors.length = 0
  vi.spyOn(console, 'error').mockImplementation((line: unknown) => void errors.push(String(line)))
})
afterEach(() => vi.restoreAllMocks())

const corrupt = (queue: QueueSetup, jobId: string, column: string, value: number | null) =>
  inside(queue, ({ core }) => void core.ctx.storage.sql.exec(`UPDATE jobs SET ${column} = ? WHERE id = ?`, value, jobId))

/** A queue that was loaded with a corrupted row of a running job, and a job that waits. */
async function damaged() {
  const queue = await setUpQueue()
  const { jobId, worker } = await runAndTake(queue)
  const waiting = await run(queue)
  await corrupt(queue, jobId, 'lease_until', null)
  await evictDurableObject(endpointStub(env, queue.endpointId))
  return { queue, jobId, worker, waiting }
}

describe('[JOB-24] the row of a running job', () => {
  it.each([
    ['state', 9],
    ['lease_until', null],
    ['started_at', null],
    ['worker_id', null],
  ])('with %s = %s is refused by name, and nothing else is', async (column, value) => {
    const queue = await setUpQueue()
    const { jobId } = await runAndTake(queue)
    const other = await run(queue)
    await corrupt(queue, jobId, column, value)
    await inside(queue, ({ core }) => {
      const jobs = new JobStore(core.ctx.storage.sql, new Undo())
      const seq = core.state.jobs.running()[0]?.seq ?? 0
      expect(() => jobs.bySeqOrThrow(seq)).toThrow(`the row of job ${jobId} is corrupted: ${column} is ${value}`)
      expect([jobs.bySeq(seq), jobs.running(), jobs.inProgress]).toEqual([null, [], 0])
      expect(jobs.queueHead(9).map(({ id }) => id)).toEqual([other])
    })
    expect(errors.join()).toContain(`the row of job ${jobId} is corrupted: ${column} is ${value}`)
  })

  it('does not keep others from running, from lists and from their ends; a call for it fails', async () => {
    const { queue, jobId, worker, waiting } = await damaged()
    const after = await run(queue)
    expect((await worker.take())?.id).toBe(waiting)
    await worker.done(waiting, { output: 1 })
    expect((await queue.get(`/status/${waiting}`)).body).toMatchObject({ status: 'COMPLETED' })
    expect((await queue.get(`/status/${jobId}`)).status).toBe(500)
    expect((await queue.post(`/cancel/${jobId}`)).status).toBe(500)
    const page = async (query: string) => (await queue.get(`/requests?${query}`)).body.requests.map(({ id }: { id: string }) => id)
    expect(await page('limit=9')).toEqual([after, waiting])
    expect(await page('limit=1')).toEqual([after])
    expect(errors.join()).toContain(`the row of job ${jobId} is corrupted: lease_until is null`)
  })

  it('is not the end of a list, where it is the only row of a page', async () => {
    const { queue } = await damaged()
    const first = await inside(queue, ({ core }) => {
      const [job] = core.state.jobs.queueHead(1)
      if (!job) throw new Error('no job')
      // Older than the corrupted one.
      const old = { ...job, seq: 0, orderKey: 0, id: 'old' }
      core.state.jobs.insert(old)
      return core.state.lists.page(null, { fromSeq: 0, beforeSeq: job.seq }, 1)
    })
    expect(first).toMatchObject([{ id: 'old' }])
  })

  it('is deleted at its ttl, and does not wake the queue again', async () => {
    const { queue, jobId } = await damaged()
    await inside(queue, ({ core }) => {
      const nowMs = Date.now() + LATER_MS
      core.now = () => nowMs
    })
    await runDurableObjectAlarm(endpointStub(env, queue.endpointId))
    expect((await queue.get(`/status/${jobId}`)).status).toBe(404)
    expect(await inside(queue, ({ core }) => core.state.jobs.nextDueAtMs())).toBeNull()
  })

  it('does not prevent the deletion of the endpoint', async () => {
    const { queue } = await damaged()
    expect((await api(queue.account.key).delete(`/v2/serverless/${queue.endpointId}`)).status).toBe(204)
    const left = () => inside(queue, ({ core }) => core.state.meta.deleted() && core.state.jobs.queuedNormal + core.state.jobs.inProgress)
    expect(await left()).toBe(0)
  })
})
