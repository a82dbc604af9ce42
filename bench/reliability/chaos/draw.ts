/** Kinds of faults, each with its share of a run. */
export const SHARES = {
  'kill plane': 7,
  'kill runtime': 5,
  'kill agent': 5,
  'kill worker': 6,
  'kill all': 4,
  pause: 6,
  network: 6,
  'fill disk of plane': 3,
  'fill disk of host': 2,
  'step clock': 3,
  'cut power of plane': 2,
  'cut power of host': 1,
} as const

export type Blow = keyof typeof SHARES

/** A random number from 0 to 1, the same sequence for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Draws `count` faults. Each full set of shares is used up before the next one begins, so that a long run has all kinds. */
export function drawBlows(count: number, seed: number): Blow[] {
  const random = randomFrom(seed)
  const drawn: Blow[] = []
  while (drawn.length < count) drawn.push(...shuffled(oneSet(), random))
  return drawn.slice(0, count)
}

function oneSet(): Blow[] {
  // Object.entries widens the keys of the table.
  return (Object.entries(SHARES) as [Blow, number][]).flatMap(([blow, share]) => Array<Blow>(share).fill(blow))
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
