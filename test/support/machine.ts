import { computesForMs } from './time.ts'

// Limits in tests are stated for a machine of two cores at full speed. The same machine computes at a quarter of it while its neighbours are
// busy, and what a test then measures says nothing of the product: such a limit grows by as much as this measures at the time.

/** What the computation below takes at full speed, milliseconds. */
const FULL_SPEED_MS = 25
const ROUNDS = 10
const TRIES = 3
/** A machine that is slower than that shows nothing. */
const SLOWEST = 8

const rows = Array.from({ length: 2_000 }, (_, i) => ({ id: `row-${i}`, name: 'x'.repeat(40), at: { first: i * 3, all: [1, 2, i] } }))

/** How many times longer than at full speed this machine computes now: 1 for one that is as fast or faster, 8 at most. Takes 150 ms. */
export function slowness(): number {
  const tries = Array.from({ length: TRIES }, () => computesForMs(computeSomething))
  return Math.min(SLOWEST, Math.max(1, Math.min(...tries) / FULL_SPEED_MS))
}

function computeSomething(): void {
  for (let i = 0; i < ROUNDS; i++) JSON.parse(JSON.stringify(rows))
}
