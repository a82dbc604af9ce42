import { Problem } from '../contract/problems.ts'
import { LOST, retryLost } from '../effects/retry-lost.ts'

/**
 * Runs `attempt`, which decides on the present row and writes the result, until it returns a value; null means that another request changed
 * the row. `noun` names the row. Throws what `attempt` throws, and 409 when others keep changing it.
 */
export async function decideAgain<Result>(noun: string, attempt: () => Promise<Result | null>): Promise<Result> {
  const outcome = await retryLost(async () => {
    const result = await attempt()
    return result === null ? LOST : { result }
  })
  if (outcome === LOST) throw new Problem('conflict', { detail: `the ${noun} was changed by other requests; read it again and retry` })
  return outcome.result
}
