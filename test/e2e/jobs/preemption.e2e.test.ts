import { afterAll, beforeAll, test } from 'vitest'
import { TestEndpoint } from '../support/plane/endpoint.ts'
import { callPlane, startPlane, type TestPlane } from '../support/plane/plane.ts'

const IDLE_TIMEOUT_S = 60
const workers = { min: 0, max: 1, idleTimeout: IDLE_TIMEOUT_S }

let plane: TestPlane
beforeAll(async () => {
  // Capacity for one worker.
  plane = await startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:1'] })
})
afterAll(() => plane?.stop())

test('[PREEMPT-1] endpoints take turns on a machine with room for one worker, without waiting for the idle timeout', async ({ expect }) => {
  const first = await TestEndpoint.create(plane, 'first', { image: 'builtin/echo', workers })
  const second = await TestEndpoint.create(plane, 'second', { image: 'builtin/echo', workers })
  const waitedMs: number[] = []
  for (const endpoint of [first, second, first]) {
    const done = await endpoint.runToEnd({ to: endpoint.id })
    expect(done).toMatchObject({ status: 'COMPLETED', output: { to: endpoint.id } })
    waitedMs.push(done.delayTime ?? Number.POSITIVE_INFINITY)
  }
  // A worker that waits for the idle timeout waits for all of it.
  for (const ms of waitedMs) expect(ms).toBeLessThan((IDLE_TIMEOUT_S * 1000) / 3)
  const scaling = await callPlane<{ decisions: { reason: string }[] }>(plane, plane.apiKey, 'GET', `/v2/serverless/${first.id}/scaling`)
  expect(scaling.decisions.map(({ reason }) => reason)).toContain(`preempted by endpoint ${second.id}`)
})
