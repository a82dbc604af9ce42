import { dropFleet } from '../../../../src/effects/placement/fleet.ts'
import { type Account, api, createAccount, createEndpoint, describe, env, expect, it } from '../../../support/harness.ts'
import { FakeHost, type FakeWorker } from '../../../support/hosts/fake-host.ts'
import { advance, freezeClock, inside, type QueueSetup, run } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'
import { until } from '../../../support/time.ts'

// Every test has its own GPU type, so that hosts of one test do not affect others.

const POOLS = {
  BLACKWELL_180: 'NVIDIA B200',
  HOPPER_141: 'NVIDIA H200',
  AMPERE_16: 'NVIDIA RTX A4000',
  AMPERE_24: 'NVIDIA RTX A5000',
  ADA_80_PRO: 'NVIDIA H100 NVL',
  ADA_32_PRO: 'NVIDIA GeForce RTX 5090',
  AMPERE_48: 'NVIDIA A40',
  AMPERE_80: 'NVIDIA A100 80GB PCIe',
  BLACKWELL_96: 'NVIDIA RTX PRO 6000 Blackwell Server Edition',
  ADA_48_PRO: 'NVIDIA L40S',
} as const
type Pool = keyof typeof POOLS

async function hostWith(pool: Pool, count: number): Promise<FakeHost> {
  const gpu = { typeId: POOLS[pool], count, memoryMb: 24_576, driverVersion: null, cudaVersion: '12.8', simulated: true }
  const host = await FakeHost.join({ gpus: [gpu] })
  // A host of other accounts that has just come online is known after a few seconds (PLACE-2).
  dropFleet()
  return host
}
const status = async (queue: QueueSetup, jobId: string) => (await queue.get(`/status/${jobId}`)).body
const health = async (queue: QueueSetup) => (await queue.get('/health')).body.workers
const isThrottled = async (queue: QueueSetup) => (await health(queue)).throttled === 1
const waits = async (queue: QueueSetup) => {
  await until(() => isThrottled(queue))
  await settled(queue)
}
const settled = (queue: QueueSetup) => until(() => inside(queue, ({ core }) => core.placing.inFlight.size === 0))
const reasonOf = async (queue: QueueSetup, jobId: string) => (await status(queue, jobId)).queue.reason
const decisions = async (queue: QueueSetup) =>
  (await api(queue.account.key).get(`/v2/serverless/${queue.endpointId}/scaling`)).body.decisions.map(
    ({ reason }: { reason: string }) => reason,
  )

/** An endpoint whose clock is frozen, so that no timer fires. */
async function endpointOf(account: Account, host: FakeHost, pool: Pool, changes: Record<string, unknown> = {}): Promise<QueueSetup> {
  const workers = { min: 0, max: 3, idleTimeout: 60 }
  const endpointId = await createEndpoint(account.key, { gpu: { pools: [pool] }, workers, ...changes })
  await freezeClock(endpointId)
  const call = api(account.key)
  const base = `/v2/${endpointId}`
  return { account, endpointId, host, post: (path, body) => call.post(base + path, body), get: (path) => call.get(base + path) }
}

/** A worker of the endpoint that has finished a job and has been idle since. */
async function idleWorker(queue: QueueSetup): Promise<FakeWorker> {
  const { jobId, worker } = await busyWorker(queue)
  await worker.done(jobId, { output: 1 })
  return worker
}

async function busyWorker(queue: QueueSetup, known: readonly string[] = []): Promise<{ jobId: string; worker: FakeWorker }> {
  const jobId = await run(queue)
  // While another worker runs, a new one starts only for a job that has waited (SCALE-2).
  if (known.length > 0) await advance(queue.endpointId, 4_000)
  const worker = await queue.host.startWorker(queue.endpointId, known)
  expect((await worker.take())?.id).toBe(jobId)
  return { jobId, worker }
}

const isAskedToStop = (host: FakeHost, worker: FakeWorker) => host.desired().some((w) => w.id === worker.id && w.desired === 'stopped')

describe('[PREEMPT-1] an idle worker is preempted for work of its account that fits nowhere', () => {
  it('[PREEMPT-5, PREEMPT-6] at once, and the waiting job runs as soon as it is gone; the decision names the reason', async () => {
    const { host, first, second } = await twoEndpoints('BLACKWELL_180', 1)
    const worker = await idleWorker(first)
    await advance(first.endpointId, 1_000)
    const jobId = await run(second)
    await host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
    await waits(second)
    expect(await reasonOf(second, jobId)).toContain('; 1 GPU is held by your endpoint "first" (1 worker leaving)')
    await host.report(worker.id, { state: 'gone' })
    const next = await host.startWorker(second.endpointId)
    expect((await next.take())?.id).toBe(jobId)
    expect(await decisions(first)).toContain(`preempted by endpoint ${second.endpointId}`)
  })

  it('[PREEMPT-2] never below workers.min', async () => {
    const { host, first, second } = await twoEndpoints('HOPPER_141', 1, { workers: { min: 1, max: 3, idleTimeout: 60 } })
    const worker = await idleWorker(first)
    await advance(first.endpointId, 30_000)
    const jobId = await run(second)
    await waits(second)
    expect(await reasonOf(second, jobId)).toContain('; 1 GPU is held by your endpoint "first" (1 idle worker kept for workers.min)')
    expect(isAskedToStop(host, worker)).toBe(false)
  })

  it('the worker that has been idle longest first, and no more than needed', async () => {
    const { host, first, second } = await twoEndpoints('AMPERE_16', 2)
    const old = await busyWorker(first)
    const young = await busyWorker(first, [old.worker.id])
    await old.worker.done(old.jobId, { output: 1 })
    await advance(first.endpointId, 2_000)
    await young.worker.done(young.jobId, { output: 1 })
    await advance(first.endpointId, 2_000)
    await run(second)
    await host.waitFor((w) => w.id === old.worker.id && w.desired === 'stopped')
    await waits(second)
    expect(isAskedToStop(host, young.worker)).toBe(false)
    await endpointStub(env, second.endpointId).capacityAppeared()
    await settled(second)
    expect(isAskedToStop(host, young.worker), 'the room of the first one is on its way').toBe(false)
  })

  it('no worker if all that may be preempted are not enough', async () => {
    const { host, first, second } = await twoEndpoints('AMPERE_24', 2, {}, { gpu: { pools: ['AMPERE_24'], count: 2 } })
    const idle = await busyWorker(first)
    const busy = await busyWorker(first, [idle.worker.id])
    await idle.worker.done(idle.jobId, { output: 1 })
    await advance(first.endpointId, 5_000)
    const jobId = await run(second)
    await waits(second)
    expect(await reasonOf(second, jobId)).toContain(
      '; 2 GPUs are held by your endpoint "first" (1 worker at work, 1 idle worker with too little capacity)',
    )
    expect([isAskedToStop(host, idle.worker), isAskedToStop(host, busy.worker)]).toEqual([false, false])
  })

  it('not if it has work again when the order arrives, nor others in its place', async () => {
    const { host, first, second } = await twoEndpoints('ADA_80_PRO', 2)
    const idle = await busyWorker(first)
    const busy = await busyWorker(first, [idle.worker.id])
    await idle.worker.done(idle.jobId, { output: 1 })
    await advance(first.endpointId, 5_000)
    const requester = { endpointId: second.endpointId, own: true }
    const order = (workers: FakeWorker[]) =>
      endpointStub(env, first.endpointId).preempt({ seeker: requester, workerIds: workers.map(({ id }) => id) })
    expect(await order([idle.worker, busy.worker])).toBe(false)
    await settled(first)
    expect(isAskedToStop(host, idle.worker)).toBe(false)
    expect(await order([idle.worker])).toBe(true)
    await host.waitFor((w) => w.id === idle.worker.id && w.desired === 'stopped')
    expect(isAskedToStop(host, busy.worker)).toBe(false)
  })
})

it('[PREEMPT-1] hosts that are offline, with workers of the account, keep no worker from being preempted', async () => {
  const { host, first, second } = await twoEndpoints('BLACKWELL_180', 1)
  const worker = await idleWorker(first)
  await advance(first.endpointId, 1_000)
  const statements = Array.from({ length: 16 }, (_, at) => `!offline-${at}`).flatMap((id) => [
    env.DB.prepare(
      `INSERT INTO hosts (id, name, data_center_id, status, public_key_x, epoch, inventory, vcpu_total, vcpu_free, memory_mb_total,
         memory_mb_free, disk_gb_total, disk_gb_free, created_at)
       VALUES (?1, 'offline', 'DC', 'OFFLINE', ?1, 1, '{"runtimes":["process"]}', 8, 8, 1000, 1000, 100, 100, 1)`,
    ).bind(id),
    env.DB.prepare(
      `INSERT INTO allocations (id, team_id, host_id, kind, owner_id, gpu_count, vcpu, memory_mb, disk_gb, created_at)
       SELECT ?1 || 'w', team_id, ?1, 'worker', id, 0, 0, 0, 0, 1 FROM endpoints WHERE id = ?2`,
    ).bind(id, first.endpointId),
  ])
  await env.DB.batch(statements)
  await run(second)
  await waits(second)
  expect(isAskedToStop(host, worker)).toBe(true)
  await env.DB.batch([
    env.DB.prepare("DELETE FROM allocations WHERE host_id LIKE '!offline-%'"),
    env.DB.prepare("DELETE FROM hosts WHERE id LIKE '!offline-%'"),
  ])
})

it('[PREEMPT-2] a worker that is started for workers.min alone preempts no other', async () => {
  const { host, first, second } = await twoEndpoints('ADA_32_PRO', 1)
  const worker = await idleWorker(first)
  await advance(first.endpointId, 5_000)
  const workers = { min: 1, max: 1, idleTimeout: 60 }
  expect((await api(second.account.key).patch(`/v2/serverless/${second.endpointId}`, { workers })).status).toBe(200)
  await waits(second)
  expect(isAskedToStop(host, worker)).toBe(false)
  // Without the job the next retry would be a minute away.
  await advance(second.endpointId, 5_000)
  await settled(second)
  await run(second)
  await advance(second.endpointId, 5_000)
  await host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
})

it('[PREEMPT-3] a worker that has been without a job for a second is preempted, and the waiting endpoint retries at that moment', async () => {
  const { host, first, second } = await twoEndpoints('AMPERE_48', 1)
  const { jobId, worker } = await busyWorker(first)
  const waiting = await run(second)
  await waits(second)
  expect(await reasonOf(second, waiting)).toContain('; 1 GPU is held by your endpoint "first" (1 worker at work)')
  await worker.done(jobId, { output: 1 })
  await advance(first.endpointId, 999)
  await settled(second)
  expect(isAskedToStop(host, worker)).toBe(false)
  await advance(first.endpointId, 1)
  await host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
})

describe('[PREEMPT-4] between accounts', () => {
  it('[PREEMPT-5, PREEMPT-6] an idle worker is preempted after 10 s, and neither account can identify the other', async () => {
    const host = await hostWith('AMPERE_80', 1)
    const first = await endpointOf(await createAccount(), host, 'AMPERE_80', { name: 'secret-name' })
    const second = await endpointOf(await createAccount(), host, 'AMPERE_80')
    const worker = await idleWorker(first)
    await advance(first.endpointId, 5_000)
    const jobId = await run(second)
    await waits(second)
    const received = JSON.stringify([await status(second, jobId), (await second.get(`/explain/${jobId}`)).body])
    expect(received).toContain('; the room is held by 1 worker of other accounts')
    for (const foreign of [first.endpointId, 'secret-name', worker.id, host.id]) expect(received).not.toContain(foreign)
    await advance(first.endpointId, 4_999)
    await settled(second)
    expect(isAskedToStop(host, worker)).toBe(false)
    await advance(first.endpointId, 1)
    await host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
    expect(await decisions(first)).toContain('preempted by another account')
    expect(JSON.stringify((await api(first.account.key).get(`/v2/serverless/${first.endpointId}/scaling`)).body)).not.toContain(
      second.endpointId,
    )
    await host.report(worker.id, { state: 'gone' })
    expect((await (await host.startWorker(second.endpointId)).take())?.id).toBe(jobId)
  })

  it('an account that has its share of the host preempts no other', async () => {
    const host = await hostWith('BLACKWELL_96', 2)
    const first = await endpointOf(await createAccount(), host, 'BLACKWELL_96')
    const second = await endpointOf(await createAccount(), host, 'BLACKWELL_96')
    const worker = await idleWorker(first)
    await advance(first.endpointId, 30_000)
    await busyWorker(second)
    await run(second)
    await advance(second.endpointId, 5_000)
    await waits(second)
    expect(isAskedToStop(host, worker)).toBe(false)
  })
})

/** Two endpoints of one account that share a host. */
async function twoEndpoints(
  pool: Pool,
  gpus: number,
  firstChanges: Record<string, unknown> = {},
  secondChanges: Record<string, unknown> = {},
) {
  const host = await hostWith(pool, gpus)
  const account = await createAccount()
  const first = await endpointOf(account, host, pool, { name: 'first', ...firstChanges })
  const second = await endpointOf(account, host, pool, secondChanges)
  return { host, first, second }
}
