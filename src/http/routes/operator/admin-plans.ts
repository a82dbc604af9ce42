import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import {
  AccountPlan,
  AccountPlanOrChangePlan,
  LimitsPlanOrChangePlan,
  ListPlansResponse,
  PlanLimits,
  PlanName,
} from '../../../contract/accounts/plans.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { planAccountPlan, planDeletePlan, planSetPlan } from '../../../services/accounts/dry-runs/plan-plans.ts'
import { deletePlan, getAccountPlan, listPlans, type PlanOwner, setAccountPlan, setPlan } from '../../../services/accounts/plans.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer, idParams, operatorEndedOrPlan, operatorOkOrPlan } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const Named = z.object({ name: PlanName.meta({ param: { name: 'name', in: 'path' } }) })
const Owned = idParams('Id of the user, or of the organization.')
const route = operatorRoutes('Plans')

const listRoute = route('get', '/admin/v1/plans', {
  operationId: 'listPlans',
  summary: 'List plans: limits that accounts share',
  description: "The plan `default` applies to every account without a plan. Limits that no plan sets have the plane's defaults.",
  responses: { 200: answer('All plans, by name.', ListPlansResponse) },
})

const setRoute = route('put', '/admin/v1/plans/{name}', {
  operationId: 'setPlan',
  summary: 'Create or change a plan; in force within 60 seconds',
  description: 'Limits set for an account take precedence over its plan. Resources in use stay, even above a lower limit.',
  request: { params: Named, query: DryRunQuery, body: { required: true, content: { 'application/json': { schema: PlanLimits } } } },
  responses: { 200: operatorOkOrPlan('The plan.', LimitsPlanOrChangePlan) },
})

const deleteRoute = route('delete', '/admin/v1/plans/{name}', {
  operationId: 'deletePlan',
  summary: 'Delete a plan that no account has',
  description: "409 `IN_USE` while accounts have it. Without the plan `default` the plane's defaults apply.",
  request: { params: Named, query: DryRunQuery },
  responses: operatorEndedOrPlan('Deleted.'),
  problems: [404, 409],
})

const OWNERS = [
  { kind: 'user', path: '/admin/v1/users/{id}/plan', noun: 'UserPlan', of: "a user's account" },
  { kind: 'organization', path: '/admin/v1/organizations/{id}/plan', noun: 'OrganizationPlan', of: 'an organization' },
] as const

const getRouteOf = ({ path, noun, of }: (typeof OWNERS)[number]) =>
  route('get', path, {
    operationId: `get${noun}`,
    summary: `Read the plan of ${of}`,
    description: 'Null if the account has no plan.',
    request: { params: Owned },
    responses: { 200: answer('The plan.', AccountPlan) },
  })

const setRouteOf = ({ path, noun, of }: (typeof OWNERS)[number]) =>
  route('put', path, {
    operationId: `set${noun}`,
    summary: `Assign a plan to ${of}, or none; in force within 60 seconds`,
    description: 'An organization without a plan shares the budgets of its creator; with a plan it is counted separately.',
    request: { params: Owned, query: DryRunQuery, body: { required: true, content: { 'application/json': { schema: AccountPlan } } } },
    responses: { 200: operatorOkOrPlan('The current plan.', AccountPlanOrChangePlan) },
  })

/** Registers the operator's plans and their assignment to accounts (PLAN-1). */
export function registerAdminPlans(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => c.json({ plans: await listPlans(c.env) }, 200))
  app.openapi(setRoute, async (c) => {
    const { name } = c.req.valid('param')
    const { dryRun } = c.req.valid('query')
    return c.json(await (dryRun ? planSetPlan : setPlan)(operatorContext(c), name, c.req.valid('json')), 200)
  })
  app.openapi(deleteRoute, async (c) => {
    const { name } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planDeletePlan(operatorContext(c), name), 200)
    await deletePlan(operatorContext(c), name)
    return c.body(null, 204)
  })
  for (const whose of OWNERS) registerOwner(app, whose)
}

function registerOwner(app: OpenAPIHono<AppEnv>, whose: (typeof OWNERS)[number]): void {
  const ownerOf = (id: string): PlanOwner => ({ kind: whose.kind, id })
  app.openapi(getRouteOf(whose), async (c) => c.json(await getAccountPlan(c.env, ownerOf(c.req.valid('param').id)), 200))
  app.openapi(setRouteOf(whose), async (c) => {
    const owner = ownerOf(c.req.valid('param').id)
    const { dryRun } = c.req.valid('query')
    return c.json(await (dryRun ? planAccountPlan : setAccountPlan)(operatorContext(c), owner, c.req.valid('json')), 200)
  })
}
