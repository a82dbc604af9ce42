/** Runs `act` on all items, at most `width` at a time. The first failure cancels the rest and is thrown. */
export async function inParallel<T>(items: readonly T[], width: number, act: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items]
  const one = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await act(item)
  }
  const lanes = Array.from({ length: Math.min(width, items.length) }, one)
  try {
    await Promise.all(lanes)
  } finally {
    rest.length = 0
    await Promise.allSettled(lanes)
  }
}
