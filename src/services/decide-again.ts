import { Problem } from '../contract/problems.ts'

/** Optimistic-lock attempts before 409. */
const MAX_ATTEMPTS = 5

/**
 * Runs `attempt`, which decides on the present row and writes the result, until it returns a value; null means that another request changed
 * the row. `noun` names the row. Throws what `attempt` throws, and 409 when others keep changing it.
 */
export async function decideAgain<Result>(noun: string, attempt: () => Promise<Result | null>): Promise<Result> {
  for (let n = 0; n < MAX_ATTEMPTS; n += 1) {
    const result = await attempt()
    if (result !== null) return result
  }
  throw new Problem('conflict', { detail: `the ${noun} was changed by other requests; read it again and retry` })
}
