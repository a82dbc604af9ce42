import type { ChangedResource, ChangeEffect, ChangePlan } from '../contract/change-plan.ts'
import { problemBody } from '../contract/problem-body.ts'
import { Problem } from '../contract/problems.ts'
import { bounded } from '../domain/plan/effect.ts'

/**
 * Statuses that a plan shows as its refusal. Other errors, such as 401, 403, 404 and 422, are thrown as the change itself would throw them.
 */
const REFUSALS: readonly number[] = [400, 402, 409, 412]

/**
 * Returns the plan of a change (DRY-1). `preview` runs the decisions of the change itself and throws their errors; the caller has checked
 * the resource and the scope. `inTheWay`: the users of the resource, listed with a refusal.
 */
export async function planChange(
  action: string,
  resource: ChangedResource,
  preview: () => Promise<ChangeEffect[]>,
  inTheWay: readonly ChangedResource[] = [],
): Promise<ChangePlan> {
  try {
    return { action, resource, effects: bounded(resource, await preview()), refusal: null }
  } catch (error) {
    if (!(error instanceof Problem) || !REFUSALS.includes(error.status)) throw error
    return { action, resource, effects: [], refusal: problemBody(error), ...(inTheWay.length > 0 && { inTheWay: [...inTheWay] }) }
  }
}
