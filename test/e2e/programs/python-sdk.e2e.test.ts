import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { handlerBegun } from '../support/agent/handler.ts'
import { quickPings } from '../support/agent/quick-pings.ts'
import { BUILD_TIMEOUT_MS, pythonClient, pythonWorkerImage } from '../support/agent/worker-image.ts'
import { PythonClient } from '../support/clients/python-client.ts'
import { docker, findContainer } from '../support/machines/docker.ts'
import { type EndpointOptions, GPU_ARGS, TestEndpoint } from '../support/plane/endpoint.ts'
import { eventually, startPlane, type TestPlane } from '../support/plane/plane.ts'

// CLIENT-1, CLIENT-3: the published Python client and worker, unmodified; the workers are real containers that the agent starts through
// Docker.

const LARGE_BYTES = 19 * 2 ** 20
const IDLE_SECONDS = 3

let plane: TestPlane
let client: PythonClient
let image: string
let plain: TestEndpoint

beforeAll(async () => {
  await pythonClient()
  image = await pythonWorkerImage()
  // WRK-20: pings every second keep the tests of lost results short.
  plane = await startPlane({ args: GPU_ARGS, env: quickPings() })
  client = await PythonClient.start(plane)
  plain = await serve('plain', { env: { GREETING: 'grüß dich = "50 %"' }, workers: { max: 1, idleTimeout: 300 } })
}, BUILD_TIMEOUT_MS)
afterAll(async () => {
  client?.stop()
  await plane?.stop()
})

describe('CLIENT-1: the Python client with a plain handler', () => {
  test('run_sync returns the output of a worker that had to be started first', async () => {
    const output = await client.call(plain.id, { call: 'run_sync', input: { text: 'ünïcode' } })
    expect(output).toEqual({ echo: { text: 'ünïcode' }, worker: expect.any(String) })
  })

  test('run, status and output', async () => {
    const { id, status } = await client.call<{ id: string; status: string }>(plain.id, { call: 'run', input: { n: 1 } })
    expect(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']).toContain(status)
    expect(await client.call(plain.id, { call: 'output', job: id })).toMatchObject({ echo: { n: 1 } })
    expect(await client.call(plain.id, { call: 'status', job: id })).toBe('COMPLETED')
  })

  test.each([
    ['while its handler runs', (job: string) => handlerBegun(plain, job)],
    [
      'in the moment in which its worker took it',
      (job: string) => eventually('the job runs', 20_000, async () => (await plain.status(job)).status === 'IN_PROGRESS'),
    ],
  ])('WRK-26, LSE-12: cancel %s frees the worker at once', async (_when, happens) => {
    const job = await plain.run({ do: 'sleep', seconds: 60 })
    await happens(job)
    expect(await client.call(plain.id, { call: 'cancel', job })).toMatchObject({ id: job, status: 'CANCELLED' })
    expect(await plain.runToEnd({ after: 'cancel' }, 15_000)).toMatchObject({ status: 'COMPLETED' })
    expect(await plain.status(job)).toMatchObject({ status: 'CANCELLED' })
  })

  test('HLT-1: health and purge_queue', async () => {
    await eventually('the worker is idle', 60_000, async () => (await plain.health()).workers.idle === 1)
    expect(await client.call(plain.id, { call: 'health' })).toEqual({
      jobs: { completed: 4, failed: 0, inProgress: 0, inQueue: 0, retried: 0 },
      workers: { idle: 1, ready: 1, running: 0, initializing: 0, throttled: 0, unhealthy: 0 },
    })
    expect(await client.call(plain.id, { call: 'purge_queue' })).toEqual({ removed: 0, status: 'completed' })
  })

  test('API-5: a bad key raises RuntimeError with 401, an unknown endpoint HTTPError with 404', async () => {
    await expect(client.call(plain.id, { call: 'run', input: { n: 1 }, key: 'wrong' })).rejects.toThrow(/^RuntimeError: 401 Unauthorized/)
    await expect(client.call('nosuchendpoint', { call: 'health' })).rejects.toThrow(/^HTTPError: 404/)
  })

  test('GQL-8: terminating an unknown pod raises an error', async () => {
    await expect(client.call(plain.id, { call: 'terminate_pod', pod: 'p1' })).rejects.toThrow('pod not found')
  })
})

describe('CLIENT-3: the Python worker in a container', () => {
  test('WRK-13: a handler that raises ends the job FAILED, with the error as JSON text', async () => {
    const view = await plain.runToEnd({ do: 'raise' })
    expect(view).toMatchObject({ status: 'FAILED', error: expect.any(String) })
    const error = JSON.parse(view.error ?? '') as Record<string, string>
    expect(error).toMatchObject({ error_message: 'the handler gave up', worker_id: view.workerId })
    expect(error.error_traceback).toContain('plain.py')
  })

  test('ENV-2, ENV-4: the environment of the endpoint and of the platform reach the handler', async () => {
    const names = ['GREETING', 'RUNPOD_ENDPOINT_ID', 'RUNPOD_POD_ID', 'RUNPOD_GPU_COUNT', 'OPERATOR_KEY', 'NODE_EXTRA_CA_CERTS']
    const { output, workerId } = await plain.runToEnd({ do: 'environment', names })
    expect(output).toEqual({
      GREETING: 'grüß dich = "50 %"',
      RUNPOD_ENDPOINT_ID: plain.id,
      RUNPOD_POD_ID: workerId,
      RUNPOD_GPU_COUNT: '1',
      OPERATOR_KEY: null,
      NODE_EXTRA_CA_CERTS: null,
    })
  })

  test('LIM-3, INV-32: a result of 19 MiB arrives whole', async () => {
    const { status, output } = await plain.runToEnd({ do: 'bytes', bytes: LARGE_BYTES })
    expect(status).toBe('COMPLETED')
    const { data } = output as { data: string }
    expect(data.length).toBe(LARGE_BYTES)
    expect(/^x+$/.test(data)).toBe(true)
  })

  test('WRK-19, LSE-3, INV-22: a result that JSON cannot represent ends FAILED with the cause and does not hang', async () => {
    const view = await plain.runToEnd({ do: 'unserialisable' }, 60_000)
    expect(view).toMatchObject({ status: 'FAILED', retries: 1, error: 'job timed out after 1 retries' })
    expect(view.errorDetail).toMatch(/result/)
  })

  test('STR-1, WRK-15: a generator streams through the client; its output is empty, or all chunks with aggregate', async () => {
    const bare = await serve('generator', { workers: { max: 1, idleTimeout: 300 } })
    const aggregate = await serve('generator', { env: { AGGREGATE: '1' }, workers: { max: 1, idleTimeout: 300 } })
    const input = { chunks: 5, pause: 0.2 }
    const [job, kept] = await Promise.all([bare.run(input), aggregate.run(input)])
    const chunks = [0, 1, 2, 3, 4].map((chunk) => ({ chunk }))
    expect(await client.call(bare.id, { call: 'stream', job })).toEqual(chunks)
    expect(await bare.finished(job)).toMatchObject({ status: 'COMPLETED', output: [] })
    expect(await aggregate.finished(kept)).toMatchObject({ status: 'COMPLETED', output: chunks })

    const broken = await bare.run({ chunks: 5, fail_after: 2 })
    expect(await client.call(bare.id, { call: 'stream', job: broken })).toEqual(chunks.slice(0, 2))
    const failed = await bare.finished(broken)
    expect(failed).toMatchObject({ status: 'FAILED', error: expect.stringContaining('the generator broke') })
    await Promise.all([bare.remove(), aggregate.remove()])
  })

  test('CLIENT-12, WRK-11: one worker runs four jobs at a time', async () => {
    const endpoint = await serve('four_at_once', { workers: { max: 1, idleTimeout: 300 } })
    await endpoint.runToEnd({ seconds: 0 })
    const views = await Promise.all(Array.from({ length: 8 }, () => endpoint.runToEnd({ seconds: 2 })))
    const outputs = views.map((view) => view.output as { most: number; worker: string })
    expect(new Set(outputs.map(({ worker }) => worker)).size).toBe(1)
    expect(Math.max(...outputs.map(({ most }) => most))).toBe(4)
    await endpoint.remove()
  })

  test('CLIENT-12, WRK-16, INV-30: a worker with refresh_worker is replaced after its job, and loses no job', async () => {
    const endpoint = await serve('refresh', { workers: { max: 1, idleTimeout: 300 } })
    const jobs = [await endpoint.run({}), await endpoint.run({})]
    const views = await Promise.all(jobs.map((job) => endpoint.finished(job)))
    for (const view of views) {
      expect(view).toMatchObject({ status: 'COMPLETED', output: { worker: view.workerId } })
      expect(view).not.toHaveProperty('retries')
    }
    expect(views[0]?.workerId).not.toBe(views[1]?.workerId)
    await endpoint.remove()
  })

  test('SCALE-5: an idle worker is stopped after its timeout and its container removed; the next job starts another', async () => {
    const endpoint = await serve('plain', { workers: { max: 1, idleTimeout: IDLE_SECONDS } })
    const first = await endpoint.runToEnd({})
    const container = await findContainer(first.workerId ?? '')
    expect(await docker('inspect', '--format', '{{.State.Running}}', container ?? '')).toBe('true')
    await eventually('the container is removed', 60_000, async () => (await findContainer(first.workerId ?? '')) === undefined)
    expect(Object.values((await endpoint.health()).workers).every((count) => count === 0)).toBe(true)
    const second = await endpoint.runToEnd({})
    expect(second).toMatchObject({ status: 'COMPLETED' })
    expect(second.workerId).not.toBe(first.workerId)
    await endpoint.remove()
  })
})

/** An endpoint whose workers run one of the handlers. */
function serve(handler: string, options: Omit<EndpointOptions, 'image' | 'cmd'>): Promise<TestEndpoint> {
  return TestEndpoint.create(plane, handler, { image, cmd: ['python3', '-u', `/handlers/${handler}.py`], ...options })
}
