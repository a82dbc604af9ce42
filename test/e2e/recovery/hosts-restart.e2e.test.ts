import { afterAll, beforeAll, describe, test } from 'vitest'
import { BeatingHosts } from '../support/plane/beating-hosts.ts'
import { eventually, startPlane, type TestPlane } from '../support/plane/plane.ts'
import { READY_LIMIT_MS, RESTARTS, restartTimes } from '../support/plane/restart-times.ts'

const HOSTS = 600
const LINKED_LIMIT_MS = 120_000

/** A plane that starts while all of its hosts link again. */
describe('a plane with beating hosts', () => {
  let plane: TestPlane
  const hosts = new BeatingHosts()
  beforeAll(async () => {
    plane = await startPlane({ args: ['--no-agent'] })
    await hosts.join(plane, HOSTS)
    hosts.redial()
  }, 180_000)
  afterAll(async () => {
    hosts.close()
    await plane?.stop()
  })

  test(`[PLANE-10, HOST-44] is ready again within 10 s, ${RESTARTS} times, and ${HOSTS} hosts are linked again`, {
    timeout: 600_000,
  }, async ({ expect }) => {
    const ready = await restartTimes(plane, async (restarted) => {
      plane = restarted
      await eventually(`${HOSTS} hosts are linked`, LINKED_LIMIT_MS, () => Promise.resolve(hosts.linked === HOSTS))
    })
    expect(Math.max(...ready), ready.join(', ')).toBeLessThan(READY_LIMIT_MS)
  })
})
