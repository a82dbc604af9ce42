import { computesForMs } from '../time.ts'

// Limits in tests are stated for an idle machine of two cores at full speed. The same machine computes at a quarter of it while its
// neighbours are busy, and other tests run beside each test: a measurement then shows nothing about the product. Such a limit is multiplied
// by the slowdown measured at that time.

/** Time of the computation below at full speed, milliseconds. */
const FULL_SPEED_MS = 25
const ROUNDS = 10
const TRIES = 5
/** Measurements on a machine slower than this show nothing. */
const SLOWEST = 8

const rows = Array.from({ length: 2_000 }, (_, i) => ({ id: `row-${i}`, name: 'x'.repeat(40), at: { first: i * 3, all: [1, 2, i] } }))

/** The current processor time of this machine as a multiple of that at full speed, 1 to 8: for limits of processor time. Takes 250 ms. */
export function slowness(): number {
  return times(() => computesForMs(computeSomething))
}

/** The same by wall clock, which includes the time of other processes: for limits of real time. */
export function busyness(): number {
  return times(() => {
    const startedAt = performance.now()
    computeSomething()
    return performance.now() - startedAt
  })
}

function times(measureMs: () => number): number {
  const tries = Array.from({ length: TRIES }, measureMs).sort((a, b) => a - b)
  return Math.min(SLOWEST, Math.max(1, (tries[Math.floor(TRIES / 2)] ?? 0) / FULL_SPEED_MS))
}

function computeSomething(): void {
  for (let i = 0; i < ROUNDS; i++) JSON.parse(JSON.stringify(rows))
}
