import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { realTime } from '../../support/time.ts'
import { BUILD_TIMEOUT_MS, pythonWorkerImage } from '../support/agent/worker-image.ts'
import { docker, findContainer } from '../support/machines/docker.ts'
import { type EndpointOptions, GPU_ARGS, TestEndpoint } from '../support/plane/endpoint.ts'
import { killPlane } from '../support/plane/kill-plane.ts'
import { eventually, startAgent, startPlane, type TestAgent, type TestPlane } from '../support/plane/plane.ts'

// The outcome for jobs when the plane or an agent is killed with SIGKILL.

const SUBMITS = 300
const KILL_AFTER = 120
const CONCURRENT_SUBMITS = 16
const SUBMIT_PAUSE_MS = 50
const NAME = 'survivor'
const GPUS = 'NVIDIA L4:4'
/** Longer than a busy machine takes to start an agent: posts of a worker are dropped while there is none, as stock SDKs do. */
const JOB_MS = 16_000

describe('the plane is killed under load', () => {
  let plane: TestPlane
  beforeAll(async () => {
    plane = await startPlane({ args: GPU_ARGS })
  })
  afterAll(() => plane?.stop())

  test('no acknowledged job is lost, and each is completed once', async () => {
    const endpoint = await TestEndpoint.create(plane, 'load', { image: 'builtin/probe', workers: { max: 2, idleTimeout: 120 } })
    await endpoint.runToEnd({ warm: true })

    const acknowledged: string[] = []
    let unclear = 0
    let left = SUBMITS
    let killed: Promise<unknown> | undefined
    const submit = async () => {
      while (left > 0) {
        left -= 1
        try {
          acknowledged.push(await endpoint.run({ n: left, sleepMs: 5 }))
        } catch {
          // The plane was down: this submit may or may not have been accepted. A client would retry it.
          unclear += 1
          left += 1
          await realTime(SUBMIT_PAUSE_MS, 'a client that was not answered tries again after a while')
        }
        if (acknowledged.length >= KILL_AFTER && killed === undefined) killed = killAndRestart()
      }
    }
    const killAndRestart = async () => {
      await killPlane(plane)
      plane = await plane.restart()
    }
    await Promise.all(Array.from({ length: CONCURRENT_SUBMITS }, submit))
    await killed
    expect(unclear, 'submits that the kill interrupted').toBeGreaterThan(0)
    expect(acknowledged).toHaveLength(SUBMITS)
    expect(new Set(acknowledged).size).toBe(SUBMITS)

    await eventually('the queue is empty', 60_000, async () => {
      const { jobs } = await endpoint.health()
      return jobs.inQueue === 0 && jobs.inProgress === 0
    })
    const views = await Promise.all(acknowledged.map((job) => endpoint.status(job)))
    expect(views.filter(({ status }) => status !== 'COMPLETED')).toEqual([])
    // Every accepted job is counted as completed once: the known ones, the first one, and at most the unclear ones.
    const { jobs } = await endpoint.health()
    expect(jobs.failed).toBe(0)
    expect(jobs.completed).toBeGreaterThanOrEqual(SUBMITS + 1)
    expect(jobs.completed).toBeLessThanOrEqual(SUBMITS + 1 + CONCURRENT_SUBMITS)
  })
})

describe('an agent is killed', () => {
  let plane: TestPlane
  let agent: TestAgent
  let image: string
  beforeAll(async () => {
    image = await pythonWorkerImage()
    plane = await startPlane({ args: ['--no-agent'] })
  }, BUILD_TIMEOUT_MS)
  afterAll(async () => {
    await agent?.stop()
    await plane?.stop()
    if (agent !== undefined) rmSync(agent.stateDir, { recursive: true, force: true })
  })

  test('both runtimes: its next process adopts the running workers, which complete their jobs without a retry', async () => {
    agent = await startAgent({ plane, name: NAME, simulateGpus: GPUS })
    // Both workers are online before the first begins its job, so that neither job ends before the agent is killed.
    const [container, process] = await Promise.all([
      warm({ image, cmd: ['python3', '-u', '/handlers/plain.py'] }),
      warm({ image: 'builtin/probe' }),
    ])
    const running = await Promise.all([begin(container, { do: 'sleep', seconds: JOB_MS / 1_000 }), begin(process, { sleepMs: JOB_MS })])
    expect(running.map(({ container }) => container === undefined)).toEqual([false, true])
    await agent.kill('SIGKILL')
    agent = await startAgent({ plane, name: NAME, simulateGpus: GPUS, stateDir: agent.stateDir })
    await Promise.all(running.map(expectAdopted))
  })

  async function warm(program: EndpointOptions): Promise<TestEndpoint> {
    const endpoint = await TestEndpoint.create(plane, 'adopted', { ...program, workers: { max: 1, idleTimeout: 60 } })
    await endpoint.runToEnd({})
    return endpoint
  }

  /** A job that a worker runs. */
  async function begin(endpoint: TestEndpoint, input: Record<string, unknown>) {
    const job = await endpoint.run(input)
    const worker = await eventually('the job runs', 60_000, async () => {
      const view = await endpoint.status(job)
      return view.status === 'IN_PROGRESS' && view.workerId
    })
    await realTime(1_000, 'the reply of the take reaches the worker: one that is lost on its way is no attempt (LSE-1)')
    return { endpoint, job, worker, container: await findContainer(worker) }
  }

  async function expectAdopted({ endpoint, job, worker, container }: Awaited<ReturnType<typeof begin>>): Promise<void> {
    const view = await endpoint.finished(job)
    expect(view).toMatchObject({ status: 'COMPLETED', workerId: worker })
    expect(view).not.toHaveProperty('retries')
    expect(view.executionTime).toBeGreaterThanOrEqual(JOB_MS)
    if (container !== undefined) expect(await docker('inspect', '--format', '{{.State.Running}}', container)).toBe('true')
    // The adopted worker takes the next job too, and ends when it is stopped.
    expect(await endpoint.runToEnd({})).toMatchObject({ status: 'COMPLETED', workerId: worker })
    await endpoint.remove()
    if (container !== undefined) {
      await eventually('the container is removed', 40_000, async () => (await findContainer(worker)) === undefined)
    }
  }
})
