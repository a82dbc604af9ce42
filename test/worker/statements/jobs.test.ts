import { type Budget, Costs } from '../../support/cost/budgets.ts'
import { fillEndpoint, type Size, scale, setWorkers } from '../../support/cost/job-scene.ts'
import { type Counted, type Place, recordCosts, withoutAlarms } from '../../support/cost/recorder.ts'
import { afterEach, describe, expect, it, onTestFinished, vi } from '../../support/harness.ts'
import { freezeClock, inside, type QueueSetup, run, runAndTake, setUpQueue } from '../../support/queue/queue.ts'

/** More than fits into the row of a job. */
const LONG_RESULT = 'x'.repeat(10_000)
/** Longer than a worker without a job stays. */
const IDLE_MS = 3_600_000
const AHEAD_MS = 400 * 24 * 3_600_000

/** Costs of each step in the life of a job and of a worker. Every row is billed: more than here is a decision. */
const BUDGETS = {
  submit: { d1: [0, 0, 0, 0], objects: [2, 3, 1, 300] },
  status: { d1: [0, 0, 0, 0], objects: [0, 0, 1, 200] },
  take: { d1: [0, 0, 0, 0], objects: [4, 3, 1, 300] },
  'first ping': { d1: [0, 0, 0, 0], objects: [2, 1, 1, 400] },
  ping: { d1: [0, 0, 0, 0], objects: [1, 0, 1, 400] },
  done: { d1: [0, 0, 0, 0], objects: [4, 3, 1, 200] },
  cancel: { d1: [0, 6, 1, 600], objects: [5, 6, 1, 400] },
  health: { d1: [0, 0, 0, 0], objects: [0, 0, 1, 300] },
  'take of the next job': { d1: [0, 0, 0, 0], objects: [4, 2, 1, 300] },
  progress: { d1: [0, 0, 0, 0], objects: [3, 3, 1, 200] },
  chunk: { d1: [0, 0, 0, 0], objects: [2, 3, 1, 400] },
  'done with a long result': { d1: [0, 0, 0, 0], objects: [2, 4, 1, 10_200] },
  'retention of a job': { d1: [0, 0, 0, 0], objects: [7, 2, 0, 0] },
  'retention of a long result': { d1: [0, 0, 0, 0], objects: [9, 4, 0, 0] },
  'end of a time to live': { d1: [0, 0, 0, 0], objects: [7, 2, 0, 0] },
  'submit with a webhook': { d1: [0, 0, 0, 0], objects: [2, 3, 1, 400] },
  'later take': { d1: [0, 0, 0, 0], objects: [4, 3, 1, 300] },
  'end with a webhook': { d1: [0, 0, 0, 0], objects: [50, 24, 2, 700] },
  retry: { d1: [0, 0, 0, 0], objects: [3, 6, 1, 300] },
  'start of a worker': { d1: [94, 20, 6, 18_500], objects: [136, 17, 1, 1600] },
  'report that it runs': { d1: [1, 1, 1, 500], objects: [5, 4, 2, 300] },
  'first take of a worker': { d1: [0, 0, 0, 0], objects: [69, 8, 1, 300] },
  'end of an idle worker': { d1: [2, 0, 1, 500], objects: [74, 10, 1, 100] },
  'report that it is gone': { d1: [51, 24, 2, 4100], objects: [73, 10, 2, 300] },
  'cancel of a running job': { d1: [94, 26, 7, 19_000], objects: [141, 23, 2, 2000] },
  'stop poll': { d1: [0, 0, 0, 0], objects: [3, 1, 1, 300] },
} as const satisfies Record<string, Budget>

/**
 * Rows more that steps of a worker's life read for each other worker: a reservation adds up the allocations of the host and of the account,
 * and a host's object adds up and sends all of its workloads.
 */
const READ_PER_WORKER: readonly (Record<Place, number> & { name: keyof typeof BUDGETS })[] = [
  { name: 'start of a worker', d1: 8, objects: 2 },
  { name: 'end of an idle worker', d1: 0, objects: 1 },
  { name: 'report that it is gone', d1: 4, objects: 0 },
  { name: 'cancel of a running job', d1: 8, objects: 2 },
]

function budgetsBeside(others: number): Record<keyof typeof BUDGETS, Budget> {
  const budgets: Record<keyof typeof BUDGETS, Budget> = { ...BUDGETS }
  for (const { name, d1, objects } of READ_PER_WORKER) {
    const {
      d1: [d1Read, ...inD1],
      objects: [objectsRead, ...inObjects],
    } = BUDGETS[name]
    budgets[name] = { d1: [d1Read + d1 * others, ...inD1], objects: [objectsRead + objects * others, ...inObjects] }
  }
  return budgets
}

/** Statements that run when a cache of the isolate has expired, which depends on the clock and not on the operation. */
const OF_CACHES = [
  /^select [^(]* from "(api_keys|catalog_entries|quotas)"/,
  /^update "api_keys" set "last_used_at"/,
  /^select "name", "limits"/,
  /^select "public_key_x", "epoch" from "hosts"/,
  /^SELECT COALESCE\(\(SELECT COALESCE\(json_extract\(b\.bounds/,
]
const isOfCaches = ({ text }: Counted) => OF_CACHES.some((form) => form.test(text))

const SIZES: readonly Size[] = [
  { queued: 10, finished: 0, workers: 0 },
  { queued: 10_000, finished: 1_000, workers: 100 },
  { queued: 1_000_000, finished: 1_000, workers: 100 },
]

afterEach(() => vi.restoreAllMocks())

describe('costs of jobs', () => {
  it('[JOB-20] each step of a job and of a worker costs as much with 1,000,000 queued jobs as with ten', { timeout: 240_000 }, async () => {
    onTestFinished(await withoutAlarms())
    for (const size of SIZES) (await costsOfJobs(size)).expectBudgets(JSON.stringify(size))
  })
})

/** The steps of a job and of a worker in an endpoint of this size. */
async function costsOfJobs(size: Size): Promise<Costs<keyof typeof BUDGETS>> {
  const queue = await setUpQueue()
  queue.host.stopBeating()
  // Far enough ahead that no deadline passes meanwhile.
  await inside(queue, ({ core }) => {
    const aheadMs = Date.now() + AHEAD_MS
    core.now = () => aheadMs
  })
  await freezeClock(queue.endpointId)
  const { worker, jobId } = await runAndTake(queue)
  await worker.done(jobId, { output: 1 })
  const withWebhook = () => queue.post('/run', { input: {}, webhook: 'https://hooks.example.com/ok' })
  // The sender of this team's webhooks is created by its first one.
  await withWebhook()
  const notified = await worker.take()
  await worker.done(notified?.id ?? '', { output: 1 })
  const [first, long, failing] = [await run(queue), await run(queue), (await withWebhook()).body.id]
  for (let other = 0; other < 2; other++) await run(queue)
  await fillEndpoint(queue, worker, size)
  // The host also has workers of the endpoints that were measured before. Its messages are in order.
  await queue.host.beat()
  const others = queue.host.desired().length - 1
  const costs = new Costs(budgetsBeside(others), await recordCosts(), isOfCaches)

  const last = await costs.step('submit', () => run(queue))
  await costs.step('status', () => queue.get(`/status/${last}`))
  expect((await costs.step('take', () => worker.take()))?.id).toBe(first)
  await costs.step('first ping', () => worker.ping([first]))
  await costs.step('ping', () => worker.ping([first]))
  await costs.step('done', () => worker.done(first, { output: 1 }))
  await costs.step('cancel', () => queue.post(`/cancel/${last}`))
  await costs.step('health', () => queue.get('/health'))
  expect((await costs.step('take of the next job', () => worker.take()))?.id).toBe(long)
  await costs.step('progress', () => worker.done(long, { status: 'IN_PROGRESS', output: 'half' }))
  await costs.step('chunk', () => worker.stream(long, { output: 'a' }))
  await costs.step('done with a long result', () => worker.done(long, { output: LONG_RESULT }))
  await setDue(queue, first)
  await costs.step('retention of a job', () => wake(queue))
  await setDue(queue, long)
  await costs.step('retention of a long result', () => wake(queue))
  const expiring = await costs.step('submit', () => run(queue))
  await setDue(queue, expiring)
  await costs.step('end of a time to live', () => wake(queue))
  await costs.step('submit with a webhook', withWebhook)
  expect((await costs.step('later take', () => worker.take()))?.id).toBe(failing)
  await costs.step('end with a webhook', () => worker.done(failing, { error: 'no' }))
  await costs.step('retry', () => queue.post(`/retry/${failing}`))
  await lifeOfWorker(queue, costs, size)
  const running = (await costs.step('later take', () => worker.take()))?.id ?? ''
  await costs.step('cancel of a running job', () => queue.post(`/cancel/${running}`))
  expect(await costs.step('stop poll', () => worker.stopPoll())).toEqual([running])
  vi.restoreAllMocks()
  return costs
}

/** Starts one worker more than there are, and stops it after one job. */
async function lifeOfWorker(queue: QueueSetup, costs: Costs<keyof typeof BUDGETS>, { queued, workers }: Size): Promise<void> {
  const { host, endpointId } = queue
  // Nothing else says that the host is there.
  await host.beat()
  const known = host.desired().map(({ id }) => id)
  await setWorkers(queue, { min: workers + 2, needed: workers + 1, queued })
  await costs.step('start of a worker', () => scale(queue))
  const worker = await costs.step('report that it runs', () => host.startWorker(endpointId, known))
  const job = await costs.step('first take of a worker', () => worker.take())
  await costs.step('done', () => worker.done(job?.id ?? '', { output: 1 }))
  await setWorkers(queue, { min: 0, needed: workers + 1, queued })
  await inside(queue, ({ core }) =>
    core.transact(({ state }) => {
      const ready = state.workers.get(worker.id)
      if (ready?.phase !== 'READY') throw new Error('the worker is not ready')
      state.workers.save({ ...ready, idleSinceMs: core.now() - IDLE_MS })
    }),
  )
  await costs.step('end of an idle worker', () => scale(queue))
  await costs.step('report that it is gone', () => host.report(worker.id, { state: 'gone', exitCode: 0 }))
}

/** Lets the time of a job end: its retention, or its time to live. */
async function setDue(queue: QueueSetup, jobId: string): Promise<void> {
  await inside(queue, ({ core }) => {
    core.ctx.storage.sql.exec('UPDATE jobs SET ttl_at = 1, retention_ms = 0, due_at = 1 WHERE id = ? /* of a test */', jobId)
    core.state.jobs.reload()
  })
}

const wake = (queue: QueueSetup) => inside(queue, ({ core }) => core.wake())
