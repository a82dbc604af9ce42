import type { OpenAPIHono } from '@hono/zod-openapi'
import { OrganizationSuspensionOrChangePlan, SuspensionOrChangePlan } from '../../../contract/accounts/accounts.ts'
import { AccountIsolation, AccountIsolationOrChangePlan } from '../../../contract/accounts/isolation.ts'
import { OffboardingOrChangePlan } from '../../../contract/accounts/offboarding.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { CreateSignInLinkRequest, SignInLink } from '../../../contract/console/sign-in-links.ts'
import { planSetIsolation } from '../../../services/accounts/dry-runs/plan-account.ts'
import { freeIdentities } from '../../../services/accounts/identities.ts'
import { getIsolation, setIsolation } from '../../../services/accounts/isolation.ts'
import { resumeOrganization, resumeUser, suspendOrganization, suspendUser } from '../../../services/accounts/suspension.ts'
import { deleteUser } from '../../../services/operator/offboarding.ts'
import {
  planDeleteUser,
  planEndSessions,
  planFreeIdentities,
  planSuspendOrganization,
  planSuspendUser,
} from '../../../services/operator/plan-end.ts'
import { endSessionsOf } from '../../../services/sessions/console-sessions.ts'
import { createSignInLink } from '../../../services/sessions/sign-in-links.ts'
import { actOrPlan, changeOrPlan, endOrPlan } from '../../answers/or-plan.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer, idParams, json, operatorEndedOrPlan, operatorOkOrPlan } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const route = operatorRoutes('Accounts')
const Params = idParams('User id.')

const suspension = { params: idParams('Id of the user, or of the organization.'), query: DryRunQuery }

const suspendUserRoute = route('post', '/admin/v1/users/{id}/suspend', {
  operationId: 'suspendUser',
  summary: 'Suspend a user: keys, streams, workers and pods end within 60 seconds; jobs wait',
  description: 'Nothing is deleted. A repeated call changes nothing.',
  request: suspension,
  responses: { 200: operatorOkOrPlan('What was done.', SuspensionOrChangePlan) },
})

const resumeUserRoute = route('post', '/admin/v1/users/{id}/resume', {
  operationId: 'resumeUser',
  summary: 'End the suspension of a user; stopped pods start again if there is capacity',
  description: 'A repeated call changes nothing.',
  request: suspension,
  responses: { 200: operatorOkOrPlan('What was done.', SuspensionOrChangePlan) },
})

const suspendOrganizationRoute = route('post', '/admin/v1/organizations/{id}/suspend', {
  operationId: 'suspendOrganization',
  summary: 'Suspend an organization: its keys, streams, workers and pods end within 60 seconds',
  description: 'Nothing is deleted. A repeated call changes nothing.',
  request: suspension,
  responses: { 200: operatorOkOrPlan('What was done.', OrganizationSuspensionOrChangePlan) },
})

const resumeOrganizationRoute = route('post', '/admin/v1/organizations/{id}/resume', {
  operationId: 'resumeOrganization',
  summary: 'End the suspension of an organization',
  description: 'Jobs continue, and pods that the suspension stopped start again if there is capacity. A repeated call changes nothing.',
  request: suspension,
  responses: { 200: operatorOkOrPlan('What was done.', OrganizationSuspensionOrChangePlan) },
})

const freeIdentitiesRoute = route('delete', '/admin/v1/users/{id}/identities', {
  operationId: 'freeIdentities',
  summary: 'Unlink the identities of a user; the next verified sign-in with the address of the user is linked',
  description:
    'For a provider that changed the ids of its users, or assigned an address to another person. Keys stay valid; sessions end within 60 seconds. Tokens that the provider issued before the call, or within 30 seconds after it, are refused: the user has to sign in at the provider again. A person with a session at the provider still gets new tokens, so end the previous identity there as well.',
  request: { params: idParams('Id of the user.'), query: DryRunQuery },
  responses: operatorEndedOrPlan('The quotas are removed.'),
})

const createLinkRoute = route('post', '/admin/v1/sign-in-links', {
  operationId: 'createSignInLink',
  summary: 'Create a link that signs a user in at the console once, within 12 hours',
  description:
    'The first person who opens it acts as that user, so protect it like a key. The link and its session end with the operator key that created it, or when the address of the operator is no longer listed. A session from a link cannot create links with `isOperator`.',
  request: { body: json(CreateSignInLinkRequest) },
  responses: { 201: answer('The link, shown only once.', SignInLink) },
  problems: [403, 404],
})

const endSessionsRoute = route('delete', '/admin/v1/users/{id}/sessions', {
  operationId: 'endSessions',
  summary: 'Sign a user out of the console everywhere',
  description:
    'In force everywhere within 60 seconds. Open links for the user end too, and links and sessions that the user created as an operator. Keys and tokens of the identity provider stay valid. A repeated call changes nothing.',
  request: { params: idParams('Id of the user.'), query: DryRunQuery },
  responses: operatorEndedOrPlan('Signed out.'),
})

const getIsolationRoute = route('get', '/admin/v1/users/{id}/isolation', {
  operationId: 'getIsolation',
  summary: 'Read the required container runtime of a user',
  description: 'Placement skips hosts without this runtime for containers of the user.',
  request: { params: Params },
  responses: { 200: answer('The requirement.', AccountIsolation) },
})

const setIsolationRoute = route('put', '/admin/v1/users/{id}/isolation', {
  operationId: 'setIsolation',
  summary: 'Require a container runtime for a user; applies to the next placement',
  description: 'Running containers are not affected.',
  request: { params: Params, query: DryRunQuery, body: json(AccountIsolation) },
  responses: { 200: operatorOkOrPlan('The current requirement.', AccountIsolationOrChangePlan) },
})

const deleteUserRoute = route('delete', '/admin/v1/users/{id}', {
  operationId: 'deleteUser',
  summary: 'Delete a user: all work ends and the account is deleted; usage stays for the bill',
  description: 'Repeat the call until nothing is left. 409 for the only owner of an organization: transfer it first. It cannot be undone.',
  request: { params: Params, query: DryRunQuery },
  responses: { 200: operatorOkOrPlan('The effects.', OffboardingOrChangePlan) },
  problems: [409],
})

/**
 * Registers the operator's actions on users: suspension (DER-40, DER-41), identities (OIDC-15), sessions (SESSION-15, SESSION-17),
 * isolation (CLASS-1) and deletion (TEAM-23).
 */
export function registerAdminUsers(app: OpenAPIHono<AppEnv>): void {
  app.openapi(suspendUserRoute, (c) => actOrPlan(c, operatorContext(c), (ctx, id) => planSuspendUser(ctx, id, true), suspendUser))
  app.openapi(resumeUserRoute, (c) => actOrPlan(c, operatorContext(c), (ctx, id) => planSuspendUser(ctx, id, false), resumeUser))
  app.openapi(suspendOrganizationRoute, (c) =>
    actOrPlan(c, operatorContext(c), (ctx, id) => planSuspendOrganization(ctx, id, true), suspendOrganization),
  )
  app.openapi(resumeOrganizationRoute, (c) =>
    actOrPlan(c, operatorContext(c), (ctx, id) => planSuspendOrganization(ctx, id, false), resumeOrganization),
  )
  app.openapi(freeIdentitiesRoute, (c) => endOrPlan(c, operatorContext(c), planFreeIdentities, freeIdentities))
  app.openapi(createLinkRoute, async (c) => c.json(await createSignInLink(operatorContext(c), c.req.valid('json')), 201))
  app.openapi(endSessionsRoute, (c) => endOrPlan(c, operatorContext(c), planEndSessions, endSessionsOf))
  app.openapi(getIsolationRoute, async (c) => c.json(await getIsolation(c.env, c.req.valid('param').id), 200))
  app.openapi(setIsolationRoute, (c) => changeOrPlan(c, operatorContext(c), planSetIsolation, setIsolation))
  app.openapi(deleteUserRoute, (c) => actOrPlan(c, operatorContext(c), planDeleteUser, deleteUser))
}
