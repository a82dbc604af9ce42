import { describe, env, expect, it, runInDurableObject } from '../../support/harness.ts'
import { FakeHost, type FakeWorker } from '../../support/hosts/fake-host.ts'
import { advanceHost, freezeHostClock, moveHostClock } from '../../support/hosts/hosts.ts'
import { advance, freezeClock, parkTake, type QueueSetup, run, setUpQueue } from '../../support/queue/queue.ts'
import { endpointStub } from '../../support/runner/stubs.ts'

const P = 10_000
/** The plane requeues the jobs of a host this long after its last heartbeat; the host itself starts to stop them at 25 s. */
const REQUEUE_MS = 35_000
/** A jump of the clock below this does not count as an outage of the plane. */
const STEP_MS = 5_000

interface Scene {
  host: FakeHost
  queue: QueueSetup
  /** Milliseconds on the endpoint's clock until a given time of the host object's clock. */
  untilHostTime: (hostMs: number) => Promise<number>
}

/** A host and its endpoint, both with frozen clocks. */
async function setScene(typeId: string, pool: string, changes: Record<string, unknown> = {}): Promise<Scene & { startMs: number }> {
  const host = await FakeHost.enrol({
    gpus: [{ typeId, count: 2, memoryMb: 24_576, driverVersion: null, cudaVersion: null, simulated: true }],
  })
  const startMs = await freezeHostClock(host.id)
  await host.link()
  const queue = await setUpQueue({ gpu: { pools: [pool] }, ...changes })
  await queue.get('/health')
  await freezeClock(queue.endpointId)
  const now = () => runInDurableObject(endpointStub(env, queue.endpointId), (object) => object.core.now())
  return { host, queue, startMs, untilHostTime: async (hostMs) => hostMs - (await now()) }
}

async function holdJob({ host, queue }: Scene): Promise<{ jobId: string; worker: FakeWorker }> {
  const jobId = await run(queue)
  const worker = await host.startWorker(queue.endpointId)
  expect((await worker.take())?.id).toBe(jobId)
  return { jobId, worker }
}

/** How long a running job has run at a given time of the host object's clock. */
async function ranBy({ queue }: Scene, jobId: string, hostMs: number): Promise<number> {
  return runInDurableObject(endpointStub(env, queue.endpointId), (object) => {
    const job = object.core.state.jobs.running().find(({ id }) => id === jobId)
    return hostMs - (job?.startedAtMs ?? 0)
  })
}

/** Advances the endpoint to a time of the host object's clock, in steps too small to count as an outage. */
async function goTo({ queue, untilHostTime }: Scene, hostMs: number): Promise<void> {
  for (let left = await untilHostTime(hostMs); left > 0; left = await untilHostTime(hostMs)) {
    await advance(queue.endpointId, Math.min(STEP_MS, left))
  }
}

/** Runs jobs with a ping every 5 s and sends the last heartbeat of their host at the end. Returns the time of that heartbeat. */
async function runFor(scene: Scene, worker: FakeWorker, jobIds: string[], ms: number, startMs: number): Promise<number> {
  for (let ranMs = STEP_MS; ranMs <= ms; ranMs += STEP_MS) {
    await goTo(scene, startMs + ranMs)
    await worker.ping(jobIds)
  }
  await moveHostClock(scene.host.id, ms)
  await scene.host.beat()
  await advanceHost(scene.host.id, 0)
  return startMs + ms
}

const record = async ({ queue }: Scene, jobId: string) => (await queue.get(`/status/${jobId}`)).body

/** LSE-20: the job is queued again, and the loss by its host costs no retry. */
async function expectFree(scene: Scene, jobId: string): Promise<void> {
  const { status, retries } = await record(scene, jobId)
  expect([status, retries]).toEqual(['IN_QUEUE', undefined])
}

describe('jobs of a silent host', () => {
  it('[HOST-36, LSE-20, P4] a job that was pinged 10 s before the last beat waits for the host, not for 4 P', async () => {
    const scene = await setScene('NVIDIA L4', 'AMPERE_24', { workers: { min: 0, max: 1, idleTimeout: 600 } })
    const { host, startMs } = scene
    const { jobId, worker } = await holdJob(scene)
    await worker.ping([jobId])
    await moveHostClock(host.id, P)
    await host.beat()
    const lastBeatMs = startMs + P
    await goTo(scene, lastBeatMs + 15_000)
    await advanceHost(host.id, 15_000)
    await goTo(scene, lastBeatMs + REQUEUE_MS - 1)
    expect(await record(scene, jobId)).toMatchObject({ status: 'IN_PROGRESS' })
    expect((await scene.queue.get('/health')).body.workers).toMatchObject({ running: 1, unhealthy: 0 })
    await goTo(scene, lastBeatMs + REQUEUE_MS)
    await expectFree(scene, jobId)
    expect((await scene.queue.get('/health')).body.workers).toMatchObject({ running: 0, unhealthy: 1 })
    host.leave()
  })

  it('[HOST-36, LSE-2] a job that its worker could not confirm waits as long', async () => {
    const scene = await setScene('NVIDIA A40', 'AMPERE_48')
    const { host, startMs } = scene
    const { jobId } = await holdJob(scene)
    await goTo(scene, startMs + 15_000)
    await advanceHost(host.id, 15_000)
    await goTo(scene, startMs + REQUEUE_MS - 1)
    expect((await record(scene, jobId)).status).toBe('IN_PROGRESS')
    await goTo(scene, startMs + REQUEUE_MS)
    const requeued = await record(scene, jobId)
    expect([requeued.status, requeued.retries]).toEqual(['IN_QUEUE', undefined])
    host.leave()
  })

  it('[HOST-36, LSE-7] a job waits as long as it has run, and continues when its host is back before that', async () => {
    const scene = await setScene('NVIDIA RTX A5000', 'AMPERE_24', { workers: { min: 0, max: 1, idleTimeout: 600 } })
    const { host, startMs } = scene
    const { jobId, worker } = await holdJob(scene)
    const lastBeatMs = await runFor(scene, worker, [jobId], 120_000, startMs)
    const waitMs = await ranBy(scene, jobId, lastBeatMs)
    await goTo(scene, lastBeatMs + 15_000)
    await advanceHost(host.id, 15_000)
    await advanceHost(host.id, 15_000)
    // The host's link is gone, but this ping arrives: no reason to shorten the wait.
    await worker.ping([jobId])
    await goTo(scene, lastBeatMs + waitMs - 1)
    expect(await record(scene, jobId)).toMatchObject({ status: 'IN_PROGRESS' })
    expect((await scene.queue.get('/health')).body.workers).toMatchObject({ running: 1, unhealthy: 0 })
    await moveHostClock(host.id, waitMs - 30_001)
    await host.link()
    await advanceHost(host.id, 1)
    // The wait for the host is over; from here on the silence of the worker counts.
    await goTo(scene, lastBeatMs + waitMs + 4 * P - STEP_MS)
    expect((await record(scene, jobId)).status).toBe('IN_PROGRESS')
    await worker.ping([jobId])
    await worker.done(jobId, { output: 1 })
    expect(await record(scene, jobId)).toMatchObject({ status: 'COMPLETED', output: 1 })
    host.leave()
  })

  it('[HOST-36, LSE-20] a job goes to another worker when it has waited as long as it ran', async () => {
    const scene = await setScene('NVIDIA RTX A6000', 'AMPERE_48', { workers: { min: 0, max: 1, idleTimeout: 600 } })
    const { host, startMs } = scene
    const { jobId, worker } = await holdJob(scene)
    const lastBeatMs = await runFor(scene, worker, [jobId], 60_000, startMs)
    const waitMs = await ranBy(scene, jobId, lastBeatMs)
    await goTo(scene, lastBeatMs + 15_000)
    await advanceHost(host.id, 15_000)
    await goTo(scene, lastBeatMs + waitMs - 1)
    expect((await record(scene, jobId)).status).toBe('IN_PROGRESS')
    await goTo(scene, lastBeatMs + waitMs)
    await expectFree(scene, jobId)
    host.leave()
  })

  it.each([
    ['sends heartbeats again', 'beat', 'NVIDIA GeForce RTX 3090', 'AMPERE_24'],
    ['has a new link', 'link', 'NVIDIA RTX A4000', 'AMPERE_16'],
  ] as const)(
    '[HOST-36, LSE-7, LSE-20] a worker that stays silent after its host %s is lost after 4 P',
    async (_how, sign, typeId, pool) => {
      const scene = await setScene(typeId, pool, { workers: { min: 0, max: 1, idleTimeout: 600 } })
      const { host, startMs } = scene
      const { jobId, worker } = await holdJob(scene)
      const lastBeatMs = await runFor(scene, worker, [jobId], 300_000, startMs)
      await goTo(scene, lastBeatMs + 15_000)
      await advanceHost(host.id, 15_000)
      await host[sign]()
      await advanceHost(host.id, 1)
      await goTo(scene, lastBeatMs + 15_000 + 4 * P - 1)
      expect((await record(scene, jobId)).status).toBe('IN_PROGRESS')
      await goTo(scene, lastBeatMs + 15_000 + 4 * P + 1)
      await expectFree(scene, jobId)
      host.leave()
    },
  )

  it('[HOST-36] two jobs of a worker wait separately', async () => {
    const scene = await setScene('NVIDIA GeForce RTX 4090', 'ADA_24', { workers: { min: 0, max: 1, idleTimeout: 600 } })
    const { host, startMs, queue } = scene
    const { jobId: old, worker } = await holdJob(scene)
    await runFor(scene, worker, [old], 100_000, startMs)
    const young = await run(queue)
    expect((await worker.take({ jobInProgress: '1' }))?.id).toBe(young)
    await worker.ping([old, young])
    const lastBeatMs = startMs + 100_000
    await goTo(scene, lastBeatMs + 15_000)
    await advanceHost(host.id, 15_000)
    await goTo(scene, lastBeatMs + REQUEUE_MS + STEP_MS)
    expect((await record(scene, young)).status).toBe('IN_QUEUE')
    expect((await record(scene, old)).status).toBe('IN_PROGRESS')
    await goTo(scene, lastBeatMs + 100_000 - STEP_MS)
    expect((await record(scene, old)).status).toBe('IN_PROGRESS')
    await goTo(scene, lastBeatMs + 100_000 + STEP_MS)
    expect((await record(scene, old)).status).toBe('IN_QUEUE')
    host.leave()
  })

  it('[HOST-36, HOST-37] a job that waits longer than its host needs to be lost ends at its own time', async () => {
    const scene = await setScene('NVIDIA L40', 'ADA_48_PRO', { workers: { min: 0, max: 1, idleTimeout: 600 }, timeout: 3_600_000 })
    const { host, startMs } = scene
    const { jobId, worker } = await holdJob(scene)
    const lastBeatMs = await runFor(scene, worker, [jobId], 400_000, startMs)
    const waitMs = await ranBy(scene, jobId, lastBeatMs)
    await advanceHost(host.id, 30_000)
    await advanceHost(host.id, 300_000)
    await goTo(scene, lastBeatMs + waitMs - 1)
    expect((await record(scene, jobId)).status).toBe('IN_PROGRESS')
    await goTo(scene, lastBeatMs + waitMs)
    expect((await record(scene, jobId)).status).toBe('IN_QUEUE')
    host.leave()
  })

  it('[HOST-36, LSE-10] the late result of the first worker is superseded once another has the job', async () => {
    const scene = await setScene('NVIDIA A100 80GB PCIe', 'AMPERE_80', { workers: { min: 0, max: 2, idleTimeout: 600 } })
    const { host, queue, startMs } = scene
    const { jobId, worker } = await holdJob(scene)
    await goTo(scene, startMs + 15_000)
    await advanceHost(host.id, 15_000)
    await goTo(scene, startMs + REQUEUE_MS - 1)
    await host.beat()
    await goTo(scene, startMs + REQUEUE_MS)
    const second = await host.startWorker(queue.endpointId, [worker.id])
    expect((await second.take())?.id).toBe(jobId)
    expect(await worker.done(jobId, { output: 'late' })).toBe(200)
    expect((await record(scene, jobId)).status).toBe('IN_PROGRESS')
    await second.done(jobId, { output: 'second' })
    expect(await record(scene, jobId)).toMatchObject({ status: 'COMPLETED', output: 'second' })
    host.leave()
  })

  it('[HOST-36, P10] a host that is back in time continues its job', async () => {
    const scene = await setScene('NVIDIA H100 80GB HBM3', 'ADA_80_PRO')
    const { host, startMs } = scene
    const { jobId, worker } = await holdJob(scene)
    await goTo(scene, startMs + 15_000)
    await advanceHost(host.id, 15_000)
    await goTo(scene, startMs + 24_000)
    await host.beat()
    await worker.ping([jobId])
    await goTo(scene, startMs + REQUEUE_MS + 1)
    expect((await record(scene, jobId)).status).toBe('IN_PROGRESS')
    await worker.done(jobId, { output: 1 })
    expect((await record(scene, jobId)).status).toBe('COMPLETED')
    host.leave()
  })

  it('[HOST-36, LSE-3] a job that its worker has shown not to hold does not wait for the host', async () => {
    const scene = await setScene('NVIDIA GeForce RTX 5090', 'ADA_32_PRO')
    const { host, startMs } = scene
    const { jobId, worker } = await holdJob(scene)
    await worker.ping([jobId])
    await goTo(scene, startMs + 14_000)
    await parkTake(scene.queue, worker)
    await advanceHost(host.id, 15_000)
    await goTo(scene, startMs + 17_000)
    expect(await record(scene, jobId)).toMatchObject({ status: 'IN_QUEUE', retries: 1 })
    host.leave()
  })
})

describe('workers of a host that disappears', () => {
  it('[HOST-37] are replaced when the host is offline, if they never started, and when it is lost, if they had started', async () => {
    const scene = await setScene('NVIDIA H200', 'HOPPER_141', { workers: { min: 2, max: 3, idleTimeout: 600 } })
    const { host, queue } = scene
    const started = await host.startWorker(queue.endpointId)
    const other = await host.waitFor((w) => w.id !== started.id && w.platformEnv.RUNPOD_ENDPOINT_ID === queue.endpointId)
    const phaseOf = (id: string) =>
      runInDurableObject(endpointStub(env, queue.endpointId), (object) => object.core.state.workers.get(id)?.phase)
    await advanceHost(host.id, 30_000)
    expect(await phaseOf(other.id)).toBe('FAILED')
    expect(await phaseOf(started.id)).toBe('STARTING')
    await advanceHost(host.id, 300_000)
    expect(await phaseOf(started.id)).toBe('FAILED')
    const reason = await runInDurableObject(
      endpointStub(env, queue.endpointId),
      (object) => object.core.state.workers.get(started.id)?.reason,
    )
    expect(reason).toBe('its host was lost')
  })
})
