import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { busyness } from '../../support/runner/machine.ts'
import { realTime } from '../../support/time.ts'
import { handlerBegun } from '../support/agent/handler.ts'
import { quickPings } from '../support/agent/quick-pings.ts'
import { BUILD_TIMEOUT_MS, busyboxImage, pythonWorkerImage } from '../support/agent/worker-image.ts'
import { countStarts, docker, findContainer, imageOfItsOwn } from '../support/machines/docker.ts'
import { GPU_ARGS, type JobView, TestEndpoint } from '../support/plane/endpoint.ts'
import { eventually, startPlane, type TestPlane } from '../support/plane/plane.ts'

// The outcome for jobs when their workers fail. A ping every second makes a lease four seconds long (LSE-4).

const PLAIN = ['python3', '-u', '/handlers/plain.py']
/** A registry that is not allowed. */
const MISSING_IMAGE = 'localhost:1/podplane-e2e/missing:1'
const WATCH_MS = 20_000
const REMOVED_MS = 40_000
/** Starts at 0, 1, 3, 7 and 15 s, when each failure doubles the backoff from one second on. */
const MOST_STARTS = 6

/** Time to find the container of a job's worker and to stop it in the middle of the job: five calls of a busy engine. */
const JOB_SECONDS = 15

let jobSeconds: number
let plane: TestPlane
let python: string
let busybox: string

beforeAll(async () => {
  python = await pythonWorkerImage()
  busybox = await imageOfItsOwn(await busyboxImage())
  plane = await startPlane({ args: GPU_ARGS, env: quickPings() })
  jobSeconds = Math.ceil(JOB_SECONDS * busyness())
}, BUILD_TIMEOUT_MS)
afterAll(async () => {
  await plane?.stop()
  if (busybox !== undefined) await docker('rmi', busybox)
})

describe.concurrent('a worker that fails in the middle of a job', () => {
  test('LSE-8, WRK-24: its container is killed: another worker runs the job again, once', async () => {
    const endpoint = await TestEndpoint.create(plane, 'killed', { image: python, cmd: PLAIN, workers: { max: 2, idleTimeout: 60 } })
    const job = await endpoint.run({ do: 'sleep', seconds: jobSeconds })
    const first = await handlerBegun(endpoint, job)
    await docker('kill', '--signal', 'KILL', await containerOf(first))

    const view = await endpoint.finished(job)
    expect(view).toMatchObject({ status: 'COMPLETED', retries: 1, output: { worker: view.workerId } })
    expect(view.workerId).not.toBe(first)
    expect((await endpoint.health()).jobs).toMatchObject({ completed: 1, failed: 0, inQueue: 0, inProgress: 0, retried: 1 })
    await endpoint.remove()
  })

  test('LSE-7, INV-25: it is frozen: another worker runs the job again, and the frozen container is removed', async () => {
    const endpoint = await TestEndpoint.create(plane, 'frozen', { image: python, cmd: PLAIN, workers: { max: 2, idleTimeout: 60 } })
    const job = await endpoint.run({ do: 'sleep', seconds: jobSeconds })
    const first = await handlerBegun(endpoint, job)
    await docker('pause', await containerOf(first))

    const view = await endpoint.finished(job)
    expect(view).toMatchObject({ status: 'COMPLETED', output: { worker: view.workerId } })
    expect(view.workerId).not.toBe(first)
    await eventually('the frozen container is removed', REMOVED_MS, async () => (await findContainer(first)) === undefined)
    expect(await endpoint.status(job)).toEqual(view)
    await endpoint.remove()
  })
})

describe.concurrent('a worker that cannot start', () => {
  test('STA-2, HLT-1: an image that cannot be pulled: the job waits with the reason, and attempts back off', async () => {
    const endpoint = await TestEndpoint.create(plane, 'missing-image', { image: MISSING_IMAGE, workers: { max: 2 } })
    const view = await watchFailing(endpoint)
    expect(view.queue?.reason).toMatch(/image pull failed: .*: the registry is not allowed on this host/)
    const attempts = readFileSync(join(plane.dataDir, 'logs/agent.log'), 'utf8').split('\n')
    expectFewStarts(attempts.filter((line) => line.includes('pulling an image') && line.includes(MISSING_IMAGE)).length)
    await endpoint.remove()
  })

  test('STA-2, HLT-1: a program that ends at once: the job waits with the reason, and attempts back off', async () => {
    const startedAt = Date.now()
    const cmd = ['/bin/sh', '-c', 'echo no licence found >&2; exit 3']
    const endpoint = await TestEndpoint.create(plane, 'crash-loop', { image: busybox, cmd, workers: { max: 2 } })
    const view = await watchFailing(endpoint)
    expect(view.queue?.reason).toMatch(/exited with code 3: no licence found/)
    expectFewStarts(await countStarts(busybox, startedAt))
    await endpoint.remove()
    const containers = () => docker('ps', '--all', '--quiet', '--filter', `ancestor=${busybox}`)
    await eventually('none of its containers is left', REMOVED_MS, async () => (await containers()) === '')
  })
})

/** Submits a job that no worker can run, and returns its view after a while. */
async function watchFailing(endpoint: TestEndpoint): Promise<JobView> {
  const watch = realTime(WATCH_MS, 'starts are counted over a while: each failure doubles the pause before the next')
  const job = await endpoint.run({})
  await eventually('a worker is unhealthy', WATCH_MS, async () => (await endpoint.health()).workers.unhealthy > 0)
  await watch
  const view = await endpoint.status(job)
  expect(view.status).toBe('IN_QUEUE')
  expect((await endpoint.health()).workers.unhealthy).toBeGreaterThan(0)
  expect((await endpoint.health()).jobs).toMatchObject({ inQueue: 1, inProgress: 0, failed: 0 })
  return view
}

/** More than one, so the platform did retry; few, so it does not loop. */
function expectFewStarts(count: number): void {
  expect(count).toBeGreaterThan(1)
  expect(count).toBeLessThanOrEqual(MOST_STARTS)
}

async function containerOf(workerId: string): Promise<string> {
  const container = await findContainer(workerId)
  if (container === undefined) throw new Error(`worker ${workerId} has no container`)
  return container
}
