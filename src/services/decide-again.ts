import { Problem } from '../contract/problems.ts'

/** Changes that may come in between, one after the other, before a caller is asked to look again himself. */
const MAX_ATTEMPTS = 5

/**
 * Decides on a row as it is and writes what was decided, until nobody else came in between: null says that somebody did. `noun` names the
 * row. Throws what `attempt` throws, and 409 when others keep changing it.
 */
export async function decideAgain<Result>(noun: string, attempt: () => Promise<Result | null>): Promise<Result> {
  for (let n = 0; n < MAX_ATTEMPTS; n += 1) {
    const result = await attempt()
    if (result !== null) return result
  }
  throw new Problem('conflict', { detail: `the ${noun} was changed by other requests; read it again` })
}
