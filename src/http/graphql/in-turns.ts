import { Problem } from '../../contract/problems.ts'
import { yieldThread } from '../../platform/yield-thread.ts'
import type { Call } from './call.ts'

/** Items that the executor completes in one turn; a turn takes a few milliseconds. */
const AT_ONCE = 128
/** Most list items in one answer; an item counts each time it is listed (GQL-77). */
const MAX_ITEMS = 50_000

/**
 * Returns a list whose items the executor completes in turns, so that other requests run in between (RATE-22). Throws 400 if a document
 * lists more than 50,000 items: the cost of a document assumes lists of ordinary length.
 */
export async function inTurns<Item>(call: Call, reading: Promise<readonly Item[]>): Promise<readonly (Item | Promise<Item>)[]> {
  const items = await reading
  call.listed += items.length
  if (call.listed > MAX_ITEMS) {
    throw new Problem('badRequest', {
      detail: `the document lists more than ${MAX_ITEMS} items; request each list once, or use /v2, which has pages`,
    })
  }
  if (items.length <= AT_ONCE) return items
  let turn = Promise.resolve()
  return items.map((item, index) => {
    if (index > 0 && index % AT_ONCE === 0) turn = turn.then(yieldThread)
    return turn.then(() => item)
  })
}
