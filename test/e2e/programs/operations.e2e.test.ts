import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { realTime } from '../../support/time.ts'
import { handlerBegun } from '../support/agent/handler.ts'
import { quickPings } from '../support/agent/quick-pings.ts'
import { BUILD_TIMEOUT_MS, pythonWorkerImage } from '../support/agent/worker-image.ts'
import { findContainer } from '../support/machines/docker.ts'
import { GPU_ARGS, TestEndpoint } from '../support/plane/endpoint.ts'
import { eventually, startPlane, type TestPlane } from '../support/plane/plane.ts'

// External ends of a running job, and its retry: the published worker SDK in real containers.

const PLAIN = ['python3', '-u', '/handlers/plain.py']
/** TMO-7, and time for the agent to act on it. */
const KILLED_WITHIN_MS = 60_000
const FAILING_MS = 10_000

let plane: TestPlane
let image: string

beforeAll(async () => {
  image = await pythonWorkerImage()
  plane = await startPlane({ args: GPU_ARGS, env: quickPings() })
}, BUILD_TIMEOUT_MS)
afterAll(() => plane?.stop())

function serve(name: string, max = 1): Promise<TestEndpoint> {
  return TestEndpoint.create(plane, name, { image, cmd: PLAIN, workers: { max, idleTimeout: 300 } })
}

describe.concurrent('a running job that is stopped', () => {
  test('CTL-1, WRK-26: cancel interrupts the handler, and the same worker continues', async () => {
    const endpoint = await serve('cancelled')
    const job = await endpoint.run({ do: 'sleep', seconds: 600 })
    const worker = await handlerBegun(endpoint, job)
    expect(await endpoint.cancel(job)).toMatchObject({ id: job, status: 'CANCELLED' })
    const next = await endpoint.runToEnd({ n: 1 })
    expect(next).toMatchObject({ status: 'COMPLETED', workerId: worker })
    expect((await endpoint.status(job)).status).toBe('CANCELLED')
    await endpoint.remove()
  })

  test('TMO-2, INV-29: a job that runs longer than its execution timeout fails, and the same worker continues', async () => {
    const endpoint = await serve('too-long')
    const job = await endpoint.run({ do: 'sleep', seconds: 600 }, { policy: { executionTimeout: 5_000 } })
    const worker = await handlerBegun(endpoint, job)
    const view = await endpoint.finished(job, 20_000)
    expect(view).toMatchObject({ status: 'FAILED', error: 'executionTimeout exceeded', workerId: worker })
    expect(view.executionTime).toBeGreaterThanOrEqual(5_000)
    expect(await endpoint.runToEnd({})).toMatchObject({ status: 'COMPLETED', workerId: worker })
    await endpoint.remove()
  })

  test('TMO-1, JOB-9: a job whose ttl passes while it runs is deleted, and its worker free', async () => {
    const endpoint = await serve('expired')
    // The cold start must not use up the time to live.
    await endpoint.runToEnd({})
    const job = await endpoint.run({ do: 'sleep', seconds: 600 }, { policy: { ttl: 10_000 } })
    const worker = await handlerBegun(endpoint, job)
    await eventually('the job is deleted', 20_000, async () => {
      const error = await endpoint.status(job).then(
        () => '',
        (reason: Error) => reason.message,
      )
      return error.includes(': 404 ')
    })
    expect(await endpoint.runToEnd({})).toMatchObject({ status: 'COMPLETED', workerId: worker })
    await endpoint.remove()
  })

  test('TMO-7, INV-28: a handler that cannot be interrupted loses its container after the grace', async () => {
    const endpoint = await serve('stubborn', 2)
    const job = await endpoint.run({ do: 'block', seconds: 600 })
    const worker = await handlerBegun(endpoint, job)
    await endpoint.cancel(job)
    const next = await endpoint.runToEnd({})
    expect(next).toMatchObject({ status: 'COMPLETED' })
    expect(next.workerId).not.toBe(worker)
    await eventually('the container is gone', KILLED_WITHIN_MS, async () => (await findContainer(worker)) === undefined)
    expect((await endpoint.status(job)).status).toBe('CANCELLED')
    await endpoint.remove()
  })
})

test.concurrent('CTL-2, LSE-9: a failed job is retried under its id, with its input, by a worker that has not held it', async () => {
  const endpoint = await serve('retried', 2)
  // A cold start must not use up the time in which the handler fails.
  await endpoint.runToEnd({})
  const until = Date.now() + FAILING_MS
  const job = await endpoint.run({ do: 'fail-until', until: until / 1000 })
  const failed = await endpoint.finished(job)
  expect(failed.status).toBe('FAILED')
  expect(failed.error).toContain('too early')
  await realTime(until - Date.now(), 'the handler fails until then, by the clock of its container')
  expect(await endpoint.retry(job)).toEqual({ id: job, status: 'IN_QUEUE' })
  const view = await endpoint.finished(job)
  expect(view).toMatchObject({ id: job, status: 'COMPLETED', output: { echo: { do: 'fail-until' } } })
  expect(view).not.toHaveProperty('error')
  expect(view.workerId).not.toBe(failed.workerId)
  await endpoint.remove()
})

test.concurrent('RUN-1: the handler reads its s3Config, which no answer to a client contains', async () => {
  const endpoint = await serve('bucket')
  const s3Config = { accessId: 'id', accessSecret: 'a-very-secret-value', bucketName: 'results', endpointUrl: 'https://s3.example.com' }
  const view = await endpoint.finished(await endpoint.run({ do: 'bucket' }, { s3Config }))
  expect(view).toMatchObject({ status: 'COMPLETED', output: 'results' })
  expect(JSON.stringify(view)).not.toContain('secret')
  await endpoint.remove()
})
