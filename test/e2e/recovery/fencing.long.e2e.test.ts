import { afterAll, beforeAll, expect, test } from 'vitest'
import { realTime } from '../../support/time.ts'
import { handlerBegun } from '../support/agent/handler.ts'
import { quickPings } from '../support/agent/quick-pings.ts'
import { BUILD_TIMEOUT_MS, pythonWorkerImage } from '../support/agent/worker-image.ts'
import { docker, findContainer, followLogs } from '../support/machines/docker.ts'
import { TestEndpoint } from '../support/plane/endpoint.ts'
import { eventually, startAgent, startPlane, type TestAgent, type TestPlane } from '../support/plane/plane.ts'

// A whole machine is frozen and thawed, with a worker in the middle of a job: no agent could end that worker.

const GPUS = 'NVIDIA L4:2'
/** Shorter than the freeze, and long enough for the second worker to be still running when the first has posted. */
const JOB_SECONDS = 20
/** The host lease of 30 s must end before its workers are placed elsewhere. */
const TAKE_OVER_MS = 90_000

let plane: TestPlane
let image: string
const agents: TestAgent[] = []

beforeAll(async () => {
  image = await pythonWorkerImage()
  plane = await startPlane({ args: ['--no-agent'], env: quickPings() })
}, BUILD_TIMEOUT_MS)
afterAll(async () => {
  for (const agent of agents) await agent.stop()
  await plane?.stop()
})

test('LSE-7, LSE-10, INV-26: posts of a worker whose machine was frozen change nothing', async () => {
  const frozen = await join('frozen')
  const cmd = ['python3', '-u', '/handlers/plain.py']
  const endpoint = await TestEndpoint.create(plane, 'frozen', { image, cmd, workers: { max: 2, idleTimeout: 60 } })
  const job = await endpoint.run({ do: 'sleep', seconds: JOB_SECONDS })
  const first = await handlerBegun(endpoint, job)
  const container = await findContainer(first)
  if (container === undefined) throw new Error(`worker ${first} has no container`)
  await join('healthy')

  const logs = followLogs(container)
  process.kill(frozen.pid, 'SIGSTOP')
  try {
    await docker('pause', container)
    const second = await workerOf(endpoint, job, first)
    // Its sleep has ended long ago: it posts as soon as it can, through its own agent.
    await docker('unpause', container)
    await realTime(1_000, 'its post waits at the frozen agent, which nobody can be asked about')
    process.kill(frozen.pid, 'SIGCONT')
    await eventually('the first worker has posted its result', 10_000, async () => /Finished/.test(logs.text()))
    expect(logs.text()).not.toMatch(/Failed to return|Error while returning/)
    expect(await endpoint.status(job)).toMatchObject({ status: 'IN_PROGRESS', workerId: second })

    const view = await endpoint.finished(job)
    expect(view).toMatchObject({ status: 'COMPLETED', workerId: second, output: { worker: second } })
    await logs.ended
    await eventually('the first container is removed', 60_000, async () => (await findContainer(first)) === undefined)
    expect(await endpoint.status(job)).toEqual(view)
    expect((await endpoint.health()).jobs).toMatchObject({ completed: 1, failed: 0, inQueue: 0, inProgress: 0, retried: 1 })
  } finally {
    process.kill(frozen.pid, 'SIGCONT')
  }
}, 240_000)

async function join(name: string): Promise<TestAgent> {
  const agent = await startAgent({ plane, name, simulateGpus: GPUS })
  agents.push(agent)
  return agent
}

/** Waits until a job runs on a worker other than `past`. */
function workerOf(endpoint: TestEndpoint, job: string, past?: string): Promise<string> {
  return eventually('a worker has the job', TAKE_OVER_MS, async () => {
    const view = await endpoint.status(job)
    return view.status === 'IN_PROGRESS' && view.workerId !== past && view.workerId
  })
}
