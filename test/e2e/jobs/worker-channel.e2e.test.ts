import { afterAll, beforeAll, expect, test } from 'vitest'
import { type JobView, TestEndpoint } from '../support/plane/endpoint.ts'
import { callPlane, eventually, startAgent, startPlane, type TestAgent, type TestPlane } from '../support/plane/plane.ts'

// A real agent whose workers' calls go over worker channels, before and after its plane is killed.

const CHUNKS = 12
const JOBS = 40

let plane: TestPlane
let agent: TestAgent

beforeAll(async () => {
  plane = await startPlane({ args: ['--no-agent'] })
  agent = await startAgent({ plane, name: 'channels', simulateGpus: 'NVIDIA L4:2', args: ['--worker-transport', 'channel'] })
})
afterAll(async () => {
  await agent?.stop()
  await plane?.stop()
})

/** Waits until the calls of the endpoint's workers go over a channel. */
async function untilChannel(endpoint: TestEndpoint): Promise<void> {
  await eventually('the worker channel is open', 60_000, async () => {
    const { hosts } = await callPlane<{ hosts: { workerTransports: { endpointId: string; transport: string }[] | null }[] }>(
      plane,
      plane.operatorKey,
      'GET',
      '/admin/v1/hosts',
    )
    return hosts[0]?.workerTransports?.some(({ endpointId, transport }) => endpointId === endpoint.id && transport === 'CHANNEL') ?? false
  })
}

test('[CHN-1, CHN-20, CHN-27] a real worker runs, streams and stops jobs over a channel, and again once its plane was killed', async () => {
  const endpoint = await TestEndpoint.create(plane, 'channel', { image: 'builtin/probe', workers: { max: 1, idleTimeout: 300 } })
  const first = await endpoint.runToEnd({ chunks: 1 })
  await untilChannel(endpoint)
  const jobs = await Promise.all(Array.from({ length: JOBS }, () => endpoint.run({ chunks: 2 })))
  const views = await Promise.all(jobs.map((job) => endpoint.finished(job)))
  expect(new Set(views.map(({ status, workerId }) => `${status} ${workerId}`))).toEqual(new Set([`COMPLETED ${first.workerId}`]))

  const long = await endpoint.run({ chunks: 600, chunkMs: 100 })
  await eventually('it runs', 30_000, async () => (await endpoint.status(long)).status === 'IN_PROGRESS')
  await endpoint.cancel(long)
  expect(await endpoint.runToEnd({ chunks: 1 })).toMatchObject({ status: 'COMPLETED' })

  const cut = await endpoint.run({ chunks: CHUNKS, chunkMs: 500 })
  await eventually('it runs', 30_000, async () => (await endpoint.status(cut)).status === 'IN_PROGRESS')
  await plane.kill('SIGKILL')
  plane = await plane.restart()
  const view: JobView = await endpoint.finished(cut, 90_000)
  expect(view).toMatchObject({ status: 'COMPLETED' })
  expect(view).not.toHaveProperty('retries')
  await untilChannel(endpoint)
  expect(await endpoint.runToEnd({ chunks: 1 })).toMatchObject({ status: 'COMPLETED' })
}, 300_000)
