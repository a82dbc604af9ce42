import { busyness } from '../../../support/runner/machine.ts'
import { killPlane } from './kill-plane.ts'
import type { TestPlane } from './plane.ts'

/** Number of restarts in a row. */
export const RESTARTS = 5
/** Longest time until a plane is ready again (PLANE-10), milliseconds on a quiet machine. */
export const READY_LIMIT_MS = 10_000

/**
 * Restarts a plane several times in a row, every second time normally and otherwise after a kill. `check` gets each new plane and ends its
 * turn. Returns the times until the planes were ready, milliseconds on a quiet machine.
 */
export async function restartTimes(plane: TestPlane, check: (plane: TestPlane) => Promise<void>): Promise<number[]> {
  const times: number[] = []
  for (let turn = 0, current = plane; turn < RESTARTS; turn++) {
    if (turn % 2 === 0) await killPlane(current)
    const before = busyness()
    current = await current.restart()
    times.push(Math.round(current.readyMs / Math.max(before, busyness())))
    await check(current)
  }
  return times
}
