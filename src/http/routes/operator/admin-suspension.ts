import type { OpenAPIHono } from '@hono/zod-openapi'
import { OrganizationSuspensionOrChangePlan, SuspensionOrChangePlan } from '../../../contract/accounts/accounts.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { resumeOrganization, resumeUser, suspendOrganization, suspendUser } from '../../../services/accounts/suspension.ts'
import { planSuspendOrganization, planSuspendUser } from '../../../services/operator/plan-end.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { idParams, operatorOkOrPlan } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const request = { params: idParams('Id of the user, or of the organization.'), query: DryRunQuery }
const route = operatorRoutes('Accounts')

const suspendUserRoute = route('post', '/admin/v1/users/{id}/suspend', {
  operationId: 'suspendUser',
  summary: 'Suspend a user: keys, streams, workers and pods end within 60 seconds; jobs wait',
  description: 'Nothing is deleted. A repeated call changes nothing.',
  request,
  responses: { 200: operatorOkOrPlan('What was done.', SuspensionOrChangePlan) },
})

const resumeUserRoute = route('post', '/admin/v1/users/{id}/resume', {
  operationId: 'resumeUser',
  summary: 'End the suspension of a user; stopped pods start again if there is capacity',
  description: 'A repeated call changes nothing.',
  request,
  responses: { 200: operatorOkOrPlan('What was done.', SuspensionOrChangePlan) },
})

const suspendOrganizationRoute = route('post', '/admin/v1/organizations/{id}/suspend', {
  operationId: 'suspendOrganization',
  summary: 'Suspend an organization: its keys, streams, workers and pods end within 60 seconds',
  description: 'Nothing is deleted. A repeated call changes nothing.',
  request,
  responses: { 200: operatorOkOrPlan('What was done.', OrganizationSuspensionOrChangePlan) },
})

const resumeOrganizationRoute = route('post', '/admin/v1/organizations/{id}/resume', {
  operationId: 'resumeOrganization',
  summary: 'End the suspension of an organization',
  description: 'Jobs continue, and pods that the suspension stopped start again if there is capacity. A repeated call changes nothing.',
  request,
  responses: { 200: operatorOkOrPlan('What was done.', OrganizationSuspensionOrChangePlan) },
})

/** Registers the suspension of accounts by the operator (DER-40, DER-41). */
export function registerAdminSuspension(app: OpenAPIHono<AppEnv>): void {
  app.openapi(suspendUserRoute, async (c) => {
    const { id } = c.req.valid('param')
    const { dryRun } = c.req.valid('query')
    return c.json(await (dryRun ? planSuspendUser(operatorContext(c), id, true) : suspendUser(operatorContext(c), id)), 200)
  })
  app.openapi(resumeUserRoute, async (c) => {
    const { id } = c.req.valid('param')
    const { dryRun } = c.req.valid('query')
    return c.json(await (dryRun ? planSuspendUser(operatorContext(c), id, false) : resumeUser(operatorContext(c), id)), 200)
  })
  app.openapi(suspendOrganizationRoute, async (c) => {
    const { id } = c.req.valid('param')
    const { dryRun } = c.req.valid('query')
    return c.json(await (dryRun ? planSuspendOrganization(operatorContext(c), id, true) : suspendOrganization(operatorContext(c), id)), 200)
  })
  app.openapi(resumeOrganizationRoute, async (c) => {
    const { id } = c.req.valid('param')
    const { dryRun } = c.req.valid('query')
    return c.json(await (dryRun ? planSuspendOrganization(operatorContext(c), id, false) : resumeOrganization(operatorContext(c), id)), 200)
  })
}
