import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { busyness } from '../../support/runner/machine.ts'
import { realTime } from '../../support/time.ts'
import { WallClock } from '../support/machines/wall-clock.ts'
import { GPU_ARGS, TestEndpoint } from '../support/plane/endpoint.ts'
import { eventually, startPlane, type TestPlane } from '../support/plane/plane.ts'

// The wall clock of a running plane is set forward and back while clients write and jobs run.

const CLIENTS = 4
const RUNNING = 3
/** Number of writes of each client before a step and after it. */
const WRITES = 15
/** The longest pause of a write beyond the pause before the step: the machine may be busy, and the shortest step back takes 2 s. */
const PAUSE_MS = 500
const HOUR_S = 3_600

describe('the wall clock is set', () => {
  const clock = new WallClock()
  let offset = 0
  let plane: TestPlane
  let endpoint: TestEndpoint
  let jobs: string[]

  beforeAll(async () => {
    plane = await startPlane({ args: GPU_ARGS, env: clock.env })
    endpoint = await TestEndpoint.create(plane, 'clock', { image: 'builtin/probe', workers: { max: RUNNING, idleTimeout: 120 } })
    jobs = await Promise.all(
      Array.from({ length: RUNNING }, () => endpoint.run({ sleepMs: 600_000 }, { policy: { executionTimeout: 900_000 } })),
    )
    await eventually('the jobs run', 60_000, async () => (await endpoint.health()).jobs.inProgress === RUNNING)
  })
  afterAll(async () => {
    await plane?.stop()
    clock.remove()
  })

  test.each([
    ['2 s back', -2],
    ['90 s back', -90],
    ['an hour back', -HOUR_S],
    ['an hour forward', HOUR_S],
  ])('[CLK-1, CLK-3, CLK-4] %s: writes continue at once, and running jobs continue', async (_, seconds) => {
    const before = await longestWrite()
    offset += seconds
    clock.set(offset)
    const after = await longestWrite()
    expect(after - before, `writes took ${Math.round(before)} ms at most before`).toBeLessThan(PAUSE_MS * busyness())
    await realTime(3_000, 'the alarm of the endpoint and the pings of its workers come')
    const views = await Promise.all(jobs.map((job) => endpoint.status(job)))
    expect(views.map(({ status, retries }) => ({ status, retries }))).toEqual(
      jobs.map(() => ({ status: 'IN_PROGRESS', retries: undefined })),
    )
  })

  async function longestWrite(): Promise<number> {
    const times = await Promise.all(Array.from({ length: CLIENTS }, writeAgainAndAgain))
    return Math.max(...times.flat())
  }

  async function writeAgainAndAgain(): Promise<number[]> {
    const times: number[] = []
    for (let i = 0; i < WRITES; i += 1) {
      const startedAt = performance.now()
      const job = await endpoint.run({ i })
      times.push(performance.now() - startedAt)
      await endpoint.cancel(job)
    }
    return times
  }
})
