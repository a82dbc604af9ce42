import runpodSdk from 'runpod-sdk'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { GPU_ARGS, TestEndpoint } from '../support/plane/endpoint.ts'
import { eventually, startPlane, type TestPlane } from '../support/plane/plane.ts'

// CLIENT-4: the published JavaScript client, unmodified, against a whole plane with real workers.

type SdkEndpoint = NonNullable<ReturnType<ReturnType<typeof runpodSdk>['endpoint']>>

let plane: TestPlane
let probe: TestEndpoint
let sdk: SdkEndpoint

beforeAll(async () => {
  // The client reports its polls on standard output.
  vi.spyOn(console, 'log').mockImplementation(() => {})
  plane = await startPlane({ args: GPU_ARGS })
  probe = await TestEndpoint.create(plane, 'js-probe', { image: 'builtin/probe', workers: { max: 1, idleTimeout: 120 } })
  sdk = connect(plane.apiKey, probe.id)
})
afterAll(async () => {
  vi.restoreAllMocks()
  await plane?.stop()
})

describe('CLIENT-4: the JavaScript SDK', () => {
  test('runSync waits over a cold start and returns the finished record', async () => {
    const result = await sdk.runSync({ input: { hello: 'world' } })
    expect(result).toMatchObject({ status: 'COMPLETED', completed: true, succeeded: true, output: { ok: true, input: { hello: 'world' } } })
    expect(result.id).toMatch(/^sync-[A-Za-z0-9_-]+$/)
    expect(Number.isInteger(result.delayTime) && Number.isInteger(result.executionTime)).toBe(true)
  })

  test('RUN-3, API-13: run is answered at once and status finds the job', async () => {
    const accepted = await sdk.run({ input: { sleepMs: 300 } })
    expect(accepted).toEqual({ id: expect.any(String), status: 'IN_QUEUE' })
    const first = await sdk.status(accepted.id)
    expect(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']).toContain(first.status)
    expect(first).toMatchObject({ started: true })
    const last = await sdk.statusSync(accepted.id)
    expect(last).toMatchObject({ id: accepted.id, status: 'COMPLETED', completed: true, succeeded: true })
  })

  test('a failed job comes back as FAILED with its reason', async () => {
    const result = await sdk.runSync({ input: { fail: 'no such model' } })
    expect(result).toMatchObject({ status: 'FAILED', completed: true, succeeded: false, error: 'no such model' })
  })

  test('RUN-4: statusSync and runSync poll again when a job outlives their hold', async () => {
    const accepted = await sdk.run({ input: { sleepMs: 2_000 } })
    expect(await sdk.statusSync(accepted.id, 1_000)).toMatchObject({ status: 'IN_PROGRESS', completed: false })
    expect(await sdk.statusSync(accepted.id)).toMatchObject({ status: 'COMPLETED' })
    // The first answer arrives after a second and a half, unfinished; the client continues with status-sync.
    expect(await sdk.runSync({ input: { sleepMs: 2_000 } }, 1_500)).toMatchObject({ status: 'COMPLETED', succeeded: true })
  })

  test('STR-5, INV-11: stream yields every chunk in order and ends', async () => {
    const { id } = await sdk.run({ input: { chunks: 40, chunkMs: 25 } })
    expect(await chunksOf(id)).toEqual(Array.from({ length: 40 }, (_, chunk) => ({ output: { chunk } })))
    expect(await sdk.status(id)).toMatchObject({ status: 'COMPLETED', output: [] })
  })

  test('INV-11: the stream of a failing job ends too, after its chunks', async () => {
    const { id } = await sdk.run({ input: { chunks: 3, fail: 'broke off' } })
    expect(await chunksOf(id)).toHaveLength(3)
    expect(await sdk.status(id)).toMatchObject({ status: 'FAILED', error: 'broke off' })
  })

  test('CTL-1: cancel ends a queued job, and a running one', async () => {
    const running = await sdk.run({ input: { sleepMs: 60_000 } })
    await eventually('the job runs', 20_000, async () => (await sdk.status(running.id)).status === 'IN_PROGRESS')
    const queued = await sdk.run({ input: {} })

    expect(await sdk.cancel(queued.id)).toMatchObject({ id: queued.id, status: 'CANCELLED' })
    expect(await sdk.cancel(running.id)).toMatchObject({ id: running.id, status: 'CANCELLED' })
    expect(await sdk.cancel(running.id)).toMatchObject({ status: 'CANCELLED' })
    expect(await sdk.status(queued.id)).toMatchObject({ status: 'CANCELLED', completed: true, succeeded: false })
    // The only worker was freed from the minute-long sleep.
    expect(await sdk.runSync({ input: { after: 'cancel' } }, 15_000)).toMatchObject({ status: 'COMPLETED' })
  })

  test('CTL-3, INV-13: purgeQueue removes waiting jobs and leaves running ones; health counts both', async () => {
    const running = await sdk.run({ input: { sleepMs: 4_000 } })
    await eventually('the job runs', 20_000, async () => (await sdk.status(running.id)).status === 'IN_PROGRESS')
    const waiting = await Promise.all(Array.from({ length: 5 }, () => sdk.run({ input: {} })))

    const before = await sdk.health()
    expect(before.jobs).toMatchObject({ inQueue: 5, inProgress: 1 })
    expect(before.workers).toMatchObject({ running: 1, idle: 0, ready: 0, unhealthy: 0 })
    expect(await sdk.purgeQueue()).toEqual({ removed: 5, status: 'completed' })
    expect((await sdk.health()).jobs).toMatchObject({ inQueue: 0, inProgress: 1 })
    expect(await sdk.statusSync(running.id)).toMatchObject({ status: 'COMPLETED' })
    for (const { id } of waiting) expect(await sdk.status(id)).not.toMatchObject({ status: 'COMPLETED' })
    await eventually('the worker is idle', 5_000, async () => (await sdk.health()).workers.idle === 1)
    expect((await sdk.health()).workers.ready).toBe(1)
  })

  test('API-6: an unknown job, an unknown endpoint and a bad key are errors with their status', async () => {
    await expect(sdk.status('00000000-0000-4000-8000-000000000000-u1')).rejects.toThrow('status code 404')
    await expect(connect(plane.apiKey, 'nosuchendpoint').run({ input: {} })).rejects.toThrow('status code 404')
    await expect(connect('pp_wrong', probe.id).run({ input: {} })).rejects.toThrow('status code 401')
  })
})

function connect(apiKey: string, endpointId: string): SdkEndpoint {
  const endpoint = runpodSdk(apiKey, { baseUrl: `${plane.url}/v2` }).endpoint(endpointId)
  if (endpoint === null) throw new Error('the SDK gave no endpoint')
  return endpoint
}

async function chunksOf(id: string): Promise<unknown[]> {
  const chunks: unknown[] = []
  for await (const chunk of sdk.stream(id)) chunks.push(chunk)
  return chunks
}
