import type { ChangedResource, ChangeEffect, ChangePlan } from '../contract/change-plan.ts'
import { problemBody } from '../contract/problem-body.ts'
import { Problem } from '../contract/problems.ts'
import { bounded } from '../domain/plan/effect.ts'

/** What a plan names as its refusal. Everything else is answered as the change itself would be: 401, 403, 404 and 422 say nothing of the plan. */
const REFUSALS: readonly number[] = [400, 402, 409, 412]

/**
 * What a change would do (DRY-1). `foretell` runs the decisions of the change itself and throws what they throw; whoever calls has looked
 * for the resource and for the scope. `inTheWay`: who uses it, told where it is refused.
 */
export async function planChange(
  action: string,
  resource: ChangedResource,
  foretell: () => Promise<ChangeEffect[]>,
  inTheWay: readonly ChangedResource[] = [],
): Promise<ChangePlan> {
  try {
    return { action, resource, effects: bounded(resource, await foretell()), refusal: null }
  } catch (error) {
    if (!(error instanceof Problem) || !REFUSALS.includes(error.status)) throw error
    return { action, resource, effects: [], refusal: problemBody(error), ...(inTheWay.length > 0 && { inTheWay: [...inTheWay] }) }
  }
}
