import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestEndpoint } from '../support/plane/endpoint.ts'
import { eventually, startAgent, startPlane, type TestAgent, type TestPlane } from '../support/plane/plane.ts'

// Attempts of a job: the end of its own container counts, the loss of a machine or an agent does not.

const NAME = 'mortal'
const GPUS = 'NVIDIA L4:4'
const KILLS = 3
/** Longer than all the kills together take. */
const LONG_JOB_MS = 45_000
const START_MS = 60_000
/** The first progress of each job. */
const BEGUN = 'begun'

describe('attempts of a job', () => {
  let plane: TestPlane
  let agent: TestAgent
  beforeAll(async () => {
    plane = await startPlane({ args: ['--no-agent'] })
    agent = await startAgent({ plane, name: NAME, simulateGpus: GPUS })
  })
  afterAll(async () => {
    await agent?.stop()
    await plane?.stop()
    if (agent !== undefined) rmSync(agent.stateDir, { recursive: true, force: true })
  })

  async function restartAgent(): Promise<void> {
    agent = await startAgent({ plane, name: NAME, simulateGpus: GPUS, stateDir: agent.stateDir })
  }

  /**
   * Waits until a worker that is not among the previous ones has begun the job. A reply that is lost with the agent is no attempt (LSE-1).
   */
  function runsOn(endpoint: TestEndpoint, job: string, past: readonly string[]): Promise<string> {
    return eventually('the job runs', START_MS, async () => {
      const { status, workerId, output } = await endpoint.status(job)
      const hasBegun = status === 'IN_PROGRESS' && output === BEGUN
      return hasBegun && workerId !== undefined && !past.includes(workerId) && workerId
    })
  }

  test('[LSE-20] an agent that is killed three times while a job runs costs the job no attempt', async () => {
    const endpoint = await TestEndpoint.create(plane, 'agent-killed', {
      ...{ image: 'builtin/probe', workers: { max: 1, idleTimeout: 60 } },
    })
    const job = await endpoint.run({ progress: BEGUN, sleepMs: LONG_JOB_MS })
    const worker = await runsOn(endpoint, job, [])
    for (let i = 0; i < KILLS; i++) {
      await agent.kill('SIGKILL')
      await restartAgent()
    }
    const view = await endpoint.finished(job)
    expect(view).toMatchObject({ status: 'COMPLETED', workerId: worker })
    expect(view).not.toHaveProperty('retries')
    await endpoint.remove()
  })

  test('[LSE-20, LSE-21] a machine that fails three times with agent and worker costs the job no attempt either', async () => {
    const endpoint = await TestEndpoint.create(plane, 'machine-gone', { image: 'builtin/probe', workers: { max: 1, idleTimeout: 60 } })
    const job = await endpoint.run({ progress: BEGUN, sleepMs: 15_000 })
    const past: string[] = []
    for (let i = 0; i < KILLS; i++) {
      const worker = await runsOn(endpoint, job, past)
      past.push(worker)
      await agent.kill('SIGKILL')
      process.kill(pidOf(agent.stateDir, worker), 'SIGKILL')
      await restartAgent()
    }
    const view = await endpoint.finished(job)
    expect(view).toMatchObject({ status: 'COMPLETED' })
    expect(view).not.toHaveProperty('retries')
    expect(past).not.toContain(view.workerId)
    await endpoint.remove()
  })

  test('[LSE-21, LSE-8] a job whose own worker is killed twice has failed, with the cause', async () => {
    const endpoint = await TestEndpoint.create(plane, 'worker-killed', {
      ...{ image: 'builtin/probe', workers: { max: 1, idleTimeout: 60 } },
    })
    const job = await endpoint.run({ progress: BEGUN, sleepMs: LONG_JOB_MS })
    const past: string[] = []
    for (let i = 0; i < 2; i++) {
      const worker = await runsOn(endpoint, job, past)
      past.push(worker)
      process.kill(pidOf(agent.stateDir, worker), 'SIGKILL')
    }
    const view = await endpoint.finished(job)
    expect(view).toMatchObject({
      status: 'FAILED',
      error: 'job timed out after 1 retries',
      errorDetail: 'killed by signal SIGKILL',
      retries: 1,
    })
    await endpoint.remove()
  })
})

/** The process id of a built-in worker, as its agent recorded it. */
function pidOf(stateDir: string, worker: string): number {
  const path = readdirSync(stateDir, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith(join(worker, 'process.json')))
  if (path === undefined) throw new Error(`no process of ${worker} below ${stateDir}`)
  return Number(JSON.parse(readFileSync(join(stateDir, path), 'utf8')).pid)
}
