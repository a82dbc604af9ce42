import { afterAll, beforeAll, describe, test } from 'vitest'
import { startPlane, type TestPlane } from '../support/plane/plane.ts'
import { type Load, loadPlane } from '../support/plane/request-load.ts'
import { READY_LIMIT_MS, RESTARTS, restartTimes } from '../support/plane/restart-times.ts'

const CLIENTS = 64
/** A pipe of the runtime's output held about 280 lines; each of these calls logs one. */
const CALLS_WHILE_STOPPED = 3_000

/** A plane under load during its own start, and while the process that started it is stopped. */
describe('a plane under continuous load from clients', () => {
  let plane: TestPlane
  let load: Load
  beforeAll(async () => {
    plane = await startPlane({ args: ['--no-agent'] })
    load = loadPlane(plane, CLIENTS)
  })
  afterAll(async () => {
    await load?.stop()
    await plane?.stop()
  })

  test(`[PLANE-10] is ready again within 10 s, ${RESTARTS} times`, { timeout: 180_000 }, async ({ expect }) => {
    const ready = await restartTimes(plane, async (restarted) => {
      plane = restarted
      await load.answers(CLIENTS)
    })
    expect(Math.max(...ready), ready.join(', ')).toBeLessThan(READY_LIMIT_MS)
  })

  test('[PLANE-11] continues while its launcher is stopped, and logs the calls of that time afterwards', async ({ expect }) => {
    process.kill(plane.pid, 'SIGSTOP')
    try {
      await load.answers(CALLS_WHILE_STOPPED)
    } finally {
      process.kill(plane.pid, 'SIGCONT')
    }
    await load.answers(1)
    expect(await load.linesLogged(CALLS_WHILE_STOPPED)).toBeGreaterThanOrEqual(CALLS_WHILE_STOPPED)
  })
})
