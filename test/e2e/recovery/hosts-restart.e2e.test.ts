import { afterAll, beforeAll, describe, test } from 'vitest'
import { busyness } from '../../support/runner/machine.ts'
import { BeatingHosts } from '../support/plane/beating-hosts.ts'
import { killPlane } from '../support/plane/kill-plane.ts'
import { eventually, startPlane, type TestPlane } from '../support/plane/plane.ts'

const HOSTS = 600
const RESTARTS = 5
const READY_LIMIT_MS = 10_000
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
    const ready: number[] = []
    for (let turn = 0; turn < RESTARTS; turn++) {
      if (turn % 2 === 0) await killPlane(plane)
      const before = busyness()
      plane = await plane.restart()
      ready.push(Math.round(plane.readyMs / Math.max(before, busyness())))
      await eventually(`${HOSTS} hosts are linked`, LINKED_LIMIT_MS, () => Promise.resolve(hosts.linked === HOSTS))
    }
    expect(Math.max(...ready), ready.join(', ')).toBeLessThan(READY_LIMIT_MS)
  })
})
