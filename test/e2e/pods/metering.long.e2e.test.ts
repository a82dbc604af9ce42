import { afterAll, beforeAll, expect, test } from 'vitest'
import { STAY_SCRIPT } from '../support/agent/pod-scripts.ts'
import { liveRandomly, randomFrom } from '../support/agent/random-life.ts'
import { busyboxImage } from '../support/agent/worker-image.ts'
import { Fleet } from '../support/plane/fleet.ts'
import { GPU_TYPE, podBody, TestPod } from '../support/plane/pods.ts'
import { readUsage } from '../support/plane/usage.ts'

// Charges, compared with the container engine's view.

const SECOND_MS = 1_000
const METERED_PODS = 10
const METERED_MS = 60_000

let fleet: Fleet
let image: string

beforeAll(async () => {
  image = await busyboxImage()
  fleet = await Fleet.start({ hosts: { metered: { simulateGpus: `${GPU_TYPE}:${METERED_PODS}` } } })
})
afterAll(() => fleet?.stop())

test('[POD-19] ten pods live through random actions for a minute: charges match their running time', async () => {
  const seed = Date.now()
  const untilMs = Date.now() + METERED_MS
  const lives = Array.from({ length: METERED_PODS }, async (_, index) => {
    const pod = await TestPod.create(fleet.plane, podBody(image, STAY_SCRIPT))
    return { pod, runs: await liveRandomly(pod, untilMs, randomFrom(seed + index)) }
  })
  for (const { pod, runs } of await Promise.all(lives)) {
    const rows = readUsage(fleet.plane, pod.id)
    const story = `seed ${seed}: ${JSON.stringify({ rows, runs })}`
    expect(rows.length, story).toBe(runs.length)
    for (const [index, { startedAtMs, endFromMs, endToMs }] of runs.entries()) {
      const { startedAt = 0, endedAt = 0 } = rows[index] ?? {}
      expect(Math.abs(startedAt - startedAtMs), story).toBeLessThanOrEqual(SECOND_MS)
      expect(endedAt, story).toBeGreaterThanOrEqual(Math.min(endFromMs, endToMs) - SECOND_MS)
      expect(endedAt, story).toBeLessThanOrEqual(endToMs + SECOND_MS)
      // Half-open intervals that never overlap: no second is charged twice.
      expect(startedAt, story).toBeGreaterThanOrEqual(rows[index - 1]?.endedAt ?? 0)
    }
  }
}, 180_000)
