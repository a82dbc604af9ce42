/**
 * Calls to objects or the database that one request, or one turn of an object, has under way. The platform carries few connections at a
 * time, so a call beyond them waits, and its time limit runs while it waits.
 */
export const CALLS_AT_ONCE = 32

/**
 * Runs `call` on all items, at most `atOnce` at a time, and returns the results in the order of the items. After a failure no more calls
 * begin; it is thrown once those under way have ended.
 */
export async function mapAtOnce<Item, Result>(
  items: readonly Item[],
  call: (item: Item) => Promise<Result>,
  atOnce = CALLS_AT_ONCE,
): Promise<Result[]> {
  const results: Result[] = []
  let hasFailed = false
  const rest = items.entries()
  const lane = async () => {
    for (const [at, item] of rest) {
      if (hasFailed) return
      try {
        results[at] = await call(item)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, lane))
  for (const outcome of lanes) if (outcome.status === 'rejected') throw outcome.reason
  return results
}

/** Like `mapAtOnce`, but a failure keeps no other call from being made: returns every outcome. */
export function settleAtOnce<Item, Result>(
  items: readonly Item[],
  call: (item: Item) => Promise<Result>,
  atOnce = CALLS_AT_ONCE,
): Promise<PromiseSettledResult<Result>[]> {
  const settle = async (item: Item): Promise<PromiseSettledResult<Result>> => {
    try {
      return { status: 'fulfilled', value: await call(item) }
    } catch (reason) {
      return { status: 'rejected', reason }
    }
  }
  return mapAtOnce(items, settle, atOnce)
}
