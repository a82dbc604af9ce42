import { Problem } from '../../contract/problems.ts'
import { yieldThread } from '../../platform/yield-thread.ts'
import type { Call } from './call.ts'

/** Items that the executor completes at once: a few milliseconds. */
const AT_ONCE = 128
/** Items of the account's own lists in one answer, each as often as it is asked for (GQL-77). */
const MAX_ITEMS = 50_000

/**
 * A list of the account for the executor, which completes some of its items at a time; other requests run in between (RATE-22). Throws 400 where
 * a document lists more than 50,000 items: its cost counts what lists usually have.
 */
export async function inTurns<Item>(call: Call, reading: Promise<readonly Item[]>): Promise<readonly (Item | Promise<Item>)[]> {
  const items = await reading
  call.listed += items.length
  if (call.listed > MAX_ITEMS) {
    throw new Problem('badRequest', {
      detail: `the document lists more than ${MAX_ITEMS} items; ask for each list once, or use /v2, which has pages`,
    })
  }
  if (items.length <= AT_ONCE) return items
  let turn = Promise.resolve()
  return items.map((item, index) => {
    if (index > 0 && index % AT_ONCE === 0) turn = turn.then(yieldThread)
    return turn.then(() => item)
  })
}
