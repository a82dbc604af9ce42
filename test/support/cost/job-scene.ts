import { STATE_CODES } from '../../../durable-objects/endpoint/store/jobs/job-row.ts'
import type { DesiredState } from '../../../durable-objects/host/desired-state.ts'
import type { WorkloadStore } from '../../../durable-objects/host/workload-store.ts'
import { env, runInDurableObject } from '../harness.ts'
import type { FakeWorker } from '../hosts/fake-host.ts'
import { inside, type QueueSetup } from '../queue/queue.ts'
import { workerIn } from '../queue/workers.ts'
import { hostStub } from '../runner/stubs.ts'

/** More jobs than a test itself queues. */
const OWN_JOBS = 50
const MAX_WORKERS = 3_000
/** More than the plane reads when it adds one. */
const KNOWN_CHANGES = 100
const DAY_MS = 86_400_000

/** Other jobs and workers of the endpoint that is measured. */
export interface Size {
  queued: number
  finished: number
  workers: number
}

/** Fills an endpoint's object, its host and D1 with copies of `worker` and with other jobs, which are behind all present ones. */
export async function fillEndpoint(queue: QueueSetup, worker: FakeWorker, { queued, finished, workers }: Size): Promise<void> {
  const ids = Array.from({ length: workers }, (_, index) => `${worker.id.slice(0, -3)}${String(index).padStart(3, '0')}`)
  await inside(queue, async ({ core }) => {
    const { sql } = core.ctx.storage
    const [nowMs, first] = [core.now(), core.state.jobs.nextSequence()]
    const insert = (count: number, columns: string, values: string) =>
      sql.exec(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO jobs (seq, id, state, low, order_key, created_at, ttl_at, execution_timeout_ms, retention_ms, due_at${columns})
         SELECT ${values} FROM n LIMIT ?`,
        ...[count, count],
      )
    const later = nowMs + DAY_MS
    const times = `${nowMs}, ${later}, 600000, 600000, ${later}`
    core.ctx.storage.transactionSync(() => {
      insert(
        finished,
        ', finished_at, output',
        `${first} + i, 'ended-' || i, ${STATE_CODES.COMPLETED}, 0, ${first} + i, ${times}, ${nowMs}, '1'`,
      )
      insert(queued, '', `${first + finished} + i, 'job-' || i, 0, i % 2, ${first + finished} + i, ${times}`)
    })
    core.state.reload()
    // A change of a worker reads the oldest ones.
    for (let change = 0; change < KNOWN_CHANGES; change++)
      sql.exec("INSERT INTO worker_changes (at, change) VALUES (?, '{}') /* of a test */", nowMs)
    await setWorkers(queue, { min: 0, needed: 1 + workers, queued })
    const sign = { version: core.config()?.version ?? 0, hostId: queue.host.id, createdAtMs: nowMs, startedAtMs: nowMs, worked: true }
    const seen = { lastSeenAtMs: nowMs, lastTakeAtMs: nowMs, idleSinceMs: nowMs }
    await core.transact(({ state }) => {
      for (const id of ids) state.workers.save(workerIn('READY', id, { ...sign, ...seen }))
    })
  })
  await copyAllocation(worker.id, ids)
  await runInDurableObject(hostStub(env, queue.host.id), async (object) => {
    // Its parts are private. `assign` sends the host all workloads anew for each one more.
    const { store, desired } = object as unknown as { store: WorkloadStore; desired: DesiredState }
    for (const id of ids) store.setWorkload({ ...worker.workload, id }, queue.endpointId)
    await desired.broadcast()
  })
  // A long queue takes seconds to write, meanwhile the host was silent. The end of its silence belongs to no step.
  await queue.host.beat()
  await queue.host.report(worker.id, { state: 'running' })
  // The first commit after such a change sets the alarm anew.
  await scale(queue)
}

/** Sets the smallest number of the endpoint's workers. Its queue of normal priority, half of all queued jobs, needs `needed`. */
export async function setWorkers(
  queue: QueueSetup,
  { min, needed, queued }: { min: number; needed: number; queued: number },
): Promise<void> {
  await inside(queue, ({ core }) => {
    const config = core.config()
    if (!config) throw new Error('no endpoint')
    const scaling = { type: 'REQUEST_COUNT' as const, requestCount: Math.ceil((queued / 2 + OWN_JOBS) / needed) }
    core.state.meta.setConfig({ ...config, workers: { ...config.workers, min, max: MAX_WORKERS }, scaling })
  })
}

/** Lets the endpoint compare its workers with its configuration. */
export async function scale(queue: QueueSetup): Promise<void> {
  await inside(queue, ({ core }) =>
    core.transact(({ effects }) => {
      effects.scale = true
    }),
  )
}

async function copyAllocation(of: string, ids: readonly string[]): Promise<void> {
  const { results } = await env.DB.prepare("SELECT name FROM pragma_table_info('allocations')").all<{ name: string }>()
  const names = results.map(({ name }) => name)
  // Without a charge, which the account's limit of spending would refuse.
  const copied = (name: string) => (name === 'id' ? '?' : name.endsWith('_per_hour') ? '0' : name)
  const copy = env.DB.prepare(
    `INSERT INTO allocations (${names}) SELECT ${names.map((name) => copied(name))} FROM allocations WHERE id = ?`,
  )
  if (ids.length > 0) await env.DB.batch(ids.map((id) => copy.bind(id, of)))
}
