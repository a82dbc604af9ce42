import { Problem } from '../../contract/problems.ts'
import { MAX_RESOURCES_PER_TEAM } from '../../db/bounds.ts'
import type { DeleteOutcome } from '../../db/resources/delete-unused.ts'

/** The account has as many of a kind as it may have (RES-1). `kinds` is the plural. */
export function tooMany(kinds: string): Problem {
  return new Problem('badRequest', { detail: `an account has at most ${MAX_RESOURCES_PER_TEAM} ${kinds}; delete one first`, code: 'RULE' })
}

/**
 * Turns a deletion that did not happen into its problem: 404, or 400 with who uses the resource. `what` names it. Null: it was changed
 * meanwhile, and has to be decided on again.
 */
export function assertDeleted(outcome: DeleteOutcome, what: string): 'deleted' | null {
  if (outcome === 'deleted') return outcome
  if (outcome === 'changed') return null
  if (outcome === 'unknown') throw new Problem('notFound')
  const user = outcome === 'usedByPod' ? 'a pod' : 'an endpoint'
  throw new Problem('badRequest', { detail: `${what} is in use by ${user} and cannot be deleted`, code: 'IN_USE' })
}
