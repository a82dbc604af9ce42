import { afterAll, beforeAll, expect, test } from 'vitest'
import { realTime } from '../../support/time.ts'
import { TestEndpoint } from '../support/plane/endpoint.ts'
import { eventually, startAgent, startPlane, type TestAgent, type TestPlane } from '../support/plane/plane.ts'

// A host is cut off for longer than its lease while a job runs there that has already run for longer than that.

/** Together longer than the plane waits for a job that has just begun, and shorter than for this one. */
const RAN_MS = 80_000
const CUT_MS = 40_000
const JOB_MS = 140_000
const START_WAIT_MS = 60_000
const END_WAIT_MS = 90_000

let plane: TestPlane
let agent: TestAgent

beforeAll(async () => {
  plane = await startPlane({ args: ['--no-agent'] })
  agent = await startAgent({ plane, name: 'cut', runtime: 'process', simulateGpus: 'NVIDIA L4:2' })
})
afterAll(async () => {
  await agent?.stop()
  await plane?.stop()
})

test('[HOST-36, LSE-7] a long job survives a cut of 40 s; one that has just begun does not', async () => {
  const endpoint = await TestEndpoint.create(plane, 'cut', { image: 'builtin/probe', workers: { max: 2, idleTimeout: 60 } })
  const long = await endpoint.run({ sleepMs: JOB_MS })
  const worker = await runsOn(endpoint, long)
  await realTime(RAN_MS, 'a job is waited for as long as it has run')
  const young = await endpoint.run({ sleepMs: JOB_MS })
  const other = await runsOn(endpoint, young)

  process.kill(agent.pid, 'SIGSTOP')
  try {
    await realTime(CUT_MS, 'the lease of the host ends')
    expect(await endpoint.status(long)).toMatchObject({ status: 'IN_PROGRESS', workerId: worker })
    expect(await endpoint.status(young)).toMatchObject({ status: 'IN_QUEUE' })
  } finally {
    process.kill(agent.pid, 'SIGCONT')
  }
  const view = await endpoint.finished(long, END_WAIT_MS)
  expect(view).toMatchObject({ status: 'COMPLETED', workerId: worker })
  expect(view.retries ?? 0).toBe(0)
  expect(await runsOn(endpoint, young, other)).not.toBe(other)
  await endpoint.cancel(young)
}, 400_000)

/** Waits until a job runs, on a worker other than `past`. */
function runsOn(endpoint: TestEndpoint, job: string, past?: string): Promise<string> {
  return eventually('the job runs', START_WAIT_MS, async () => {
    const { status, workerId } = await endpoint.status(job)
    return status === 'IN_PROGRESS' && workerId !== past && workerId
  })
}
