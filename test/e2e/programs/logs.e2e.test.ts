import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { realTime } from '../../support/time.ts'
import { busyboxImage } from '../support/agent/worker-image.ts'
import { findContainer } from '../support/machines/docker.ts'
import { TestEndpoint } from '../support/plane/endpoint.ts'
import { LogFollower } from '../support/plane/log-follower.ts'
import { eventually, startAgent, startPlane, type TestAgent, type TestPlane } from '../support/plane/plane.ts'

// The output of a worker, read over the API while its agent is killed and restarted.

const NAME = 'logger'
/** TMO-5, and a margin. */
const TAKE_HOLD_MS = 26_000
const GPUS = 'NVIDIA L4:4'

/** Ids of all workloads that an agent has ever started; a partly written file has another name until it is complete. */
const workloadsOf = (agent: TestAgent) =>
  readdirSync(join(agent.stateDir, 'workloads')).flatMap((name) => /^(.+)\.json$/.exec(name)?.[1] ?? [])

describe("a worker's log", () => {
  let plane: TestPlane
  let agent: TestAgent
  const restartAgent = async () => {
    await agent.kill('SIGKILL')
    agent = await startAgent({ plane, name: NAME, simulateGpus: GPUS, stateDir: agent.stateDir })
  }
  beforeAll(async () => {
    plane = await startPlane({ args: ['--no-agent'] })
    agent = await startAgent({ plane, name: NAME, simulateGpus: GPUS })
  })
  afterAll(async () => {
    await agent?.stop()
    await plane?.stop()
    if (agent !== undefined) rmSync(agent.stateDir, { recursive: true, force: true })
  })

  test('[SCALE-8] a built-in worker: each line once and in order, with the agent killed in between', async () => {
    const endpoint = await TestEndpoint.create(plane, 'echo', { image: 'builtin/echo', workers: { max: 1, idleTimeout: 120 } })
    const { workerId = '' } = await endpoint.runToEnd({})
    const log = LogFollower.open(plane, endpoint.id, workerId)
    const jobs: string[] = []
    for (let round = 0; round < 3; round += 1) {
      for (let n = 0; n < 3; n += 1) {
        const { id } = await endpoint.runToEnd({ n })
        jobs.push(id)
      }
      if (round === 0) {
        await restartAgent()
        await realTime(TAKE_HOLD_MS, 'a take over the killed agent may still be open, and a job given to it would come back after 3 P')
      }
      // A reader that reconnects continues where it was.
      if (round === 1) await log.reconnect()
    }
    await log.waitFor((lines) => lines.includes(`job ${jobs.at(-1)}: done`))
    await endpoint.remove()
    await log.waitFor((lines) => lines.some((line) => line.startsWith('exited')))
    log.close()
    const lines = log.lines()
    expect(lines.slice(0, 3)).toEqual(['creating from image builtin/echo', 'started', `worker ${workerId}: waiting for jobs`])
    expect(lines.filter((line) => jobs.some((job) => line.startsWith(`job ${job}:`)))).toEqual(
      jobs.flatMap((job) => [`job ${job}: started`, `job ${job}: done`]),
    )
    expect(lines.at(-1)).toBe('exited with code 0')
    const counters = log.ids().map((id) => Number(id.split('/')[1]))
    expect(counters).toEqual(counters.map((_, index) => index + 1))
  })

  test('[SCALE-8][LOG-5] a container: both streams, with the agent killed in between, and its end', async () => {
    const image = await busyboxImage()
    const script = 'i=1; while [ $i -le 600 ]; do echo out $i; echo err $i >&2; usleep 20000; i=$((i+1)); done; echo last; exit 3'
    const busybox = script.replaceAll('usleep', 'busybox usleep')
    const endpoint = await TestEndpoint.create(plane, 'busybox', { image, cmd: ['/bin/sh', '-c', busybox], workers: { max: 1 } })
    const known = workloadsOf(agent)
    await endpoint.run({})
    const workerId = await eventually('the container', 60_000, async () => workloadsOf(agent).find((id) => !known.includes(id)))
    const log = LogFollower.open(plane, endpoint.id, workerId)
    await log.waitFor((lines) => lines.includes('out 50'))
    expect(await findContainer(workerId)).toBeDefined()
    await restartAgent()
    await log.reconnect()
    await log.waitFor((lines) => lines.some((line) => line.startsWith('exited')))
    await endpoint.remove()
    log.close()
    const lines = log.lines()
    const numbers = (name: string) => lines.filter((line) => line.startsWith(`${name} `)).map((line) => Number(line.split(' ')[1]))
    const all = Array.from({ length: 600 }, (_, index) => index + 1)
    expect(numbers('out')).toEqual(all)
    expect(numbers('err')).toEqual(all)
    expect(lines.slice(-2)).toEqual(['last', 'exited with code 3: last'])
    expect(log.sources().slice(0, 2)).toEqual(['system', 'system'])
  })
})
