import { describe } from 'vitest'
import type { HealthView, PlayedEndpoint } from './support/endpoint.ts'
import { eventually } from './support/http.ts'
import { expect, scenario } from './support/scenario.ts'

const JOB_KEYS = ['completed', 'failed', 'inProgress', 'inQueue', 'retried']
const WORKER_KEYS = ['idle', 'initializing', 'ready', 'running', 'throttled', 'unhealthy']

describe('health', () => {
  scenario(
    '[INV-13] HLT-1: health has five job and six worker counters, always present, always integers',
    { workers: 1 },
    async (endpoint) => {
      expectShape(await endpoint.health())
      const worker = await endpoint.nextWorker()
      await endpoint.run()
      expectShape(await endpoint.health())
      await worker.takeJob()
      expectShape(await endpoint.health())
    },
  )

  scenario('[INV-13] HLT-1: job counters follow every job', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const jobs = [await endpoint.run(), await endpoint.run(), await endpoint.run()]
    await expectJobs(endpoint, { completed: 0, failed: 0, inProgress: 0, inQueue: 3, retried: 0 })
    const first = await worker.takeJob()
    expect(first.id).toBe(jobs[0])
    await expectJobs(endpoint, { completed: 0, failed: 0, inProgress: 1, inQueue: 2, retried: 0 })
    await worker.done(first.id, { output: 1 })
    await worker.done((await worker.takeJob()).id, { error: 'no' })
    await expectJobs(endpoint, { completed: 1, failed: 1, inProgress: 0, inQueue: 1, retried: 0 })
    const lost = await worker.takeJob()
    worker.holding.delete(lost.id)
    await endpoint.reaches(lost.id, 'IN_QUEUE')
    await expectJobs(endpoint, { completed: 1, failed: 1, inProgress: 0, inQueue: 1, retried: 1 })
    await endpoint.call('POST', `cancel/${lost.id}`)
    await expectJobs(endpoint, { completed: 1, failed: 1, inProgress: 0, inQueue: 0, retried: 1 })
  })

  scenario('[INV-13] HLT-2: an idle worker counts in idle and in ready, a busy one in running alone', { workers: 2 }, async (endpoint) => {
    const [worker, other] = [await endpoint.nextWorker(), await endpoint.nextWorker()]
    expect((await endpoint.health()).workers).toMatchObject({ initializing: 2, idle: 0, ready: 0, running: 0 })
    const taken = worker.takeJob()
    const waiting = other.takeJob()
    await eventually('both are idle', async () => (await endpoint.health()).workers.idle === 2)
    expect((await endpoint.health()).workers).toEqual({ idle: 2, initializing: 0, ready: 2, running: 0, throttled: 0, unhealthy: 0 })
    await endpoint.run()
    const job = await Promise.race([taken, waiting])
    expect((await endpoint.health()).workers).toEqual({ idle: 1, initializing: 0, ready: 1, running: 1, throttled: 0, unhealthy: 0 })
    await endpoint.run()
    const busy = await Promise.all([taken, waiting])
    expect((await endpoint.health()).workers).toEqual({ idle: 0, initializing: 0, ready: 0, running: 2, throttled: 0, unhealthy: 0 })
    expect(new Set(busy.map(({ id }) => id)).size).toBe(2)
    expect(busy.map(({ id }) => id)).toContain(job.id)
  })
})

function expectShape(health: HealthView): void {
  expect(Object.keys(health.jobs)).toEqual(expect.arrayContaining(JOB_KEYS))
  expect(Object.keys(health.workers)).toEqual(expect.arrayContaining(WORKER_KEYS))
  const counters = [...JOB_KEYS.map((key) => health.jobs[key as keyof HealthView['jobs']])]
  counters.push(...WORKER_KEYS.map((key) => health.workers[key as keyof HealthView['workers']]))
  for (const counter of counters) expect(Number.isInteger(counter) && counter >= 0, JSON.stringify(health)).toBe(true)
}

async function expectJobs(endpoint: PlayedEndpoint, wanted: HealthView['jobs']): Promise<void> {
  expect((await endpoint.health()).jobs).toEqual(wanted)
}
