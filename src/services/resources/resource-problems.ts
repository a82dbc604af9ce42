import { Problem } from '../../contract/problems.ts'
import { MAX_RESOURCES_PER_TEAM } from '../../db/bounds.ts'
import type { DeleteOutcome } from '../../db/resources/delete-unused.ts'

/** Returns the 400 for an account that has reached its maximum of a kind of resource (RES-1). `kinds` is the plural. */
export function tooMany(kinds: string): Problem {
  return new Problem('badRequest', { detail: `an account has at most ${MAX_RESOURCES_PER_TEAM} ${kinds}; delete one first`, code: 'RULE' })
}

/**
 * Throws the error of a deletion that did not happen: 404, or 400 with the kind of user of the resource. `what` names the resource. Returns
 * null when it was changed meanwhile, so that the caller decides again.
 */
export function assertDeleted(outcome: DeleteOutcome, what: string): 'deleted' | null {
  if (outcome === 'deleted') return outcome
  if (outcome === 'changed') return null
  if (outcome === 'unknown') throw new Problem('notFound')
  const user = outcome === 'usedByPod' ? 'a pod' : 'an endpoint'
  throw new Problem('badRequest', { detail: `${what} is in use by ${user} and cannot be deleted`, code: 'IN_USE' })
}
