import type { OpenAPIHono } from '@hono/zod-openapi'
import { DryRunQuery } from '../../contract/change-plan.ts'
import { CreateHeaders } from '../../contract/idempotency-key.ts'
import { CreateDelegationRequest, EcrDelegation, ListDelegationsResponse } from '../../contract/resources/delegations.ts'
import * as delegations from '../../services/resources/delegations.ts'
import { planRevokeDelegation } from '../../services/resources/plan-deletions.ts'
import { endOrPlan } from '../answers/or-plan.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { endedOrPlan, idParams, json, ok } from '../openapi/rest-components.ts'
import { restRoutes } from '../openapi/routes.ts'

const PATH = '/v2/registries/delegations'
const Params = idParams('Delegation id.')
const route = restRoutes('Registries')

const listRoute = route('get', PATH, 'registries:read', {
  operationId: 'listDelegations',
  summary: 'List the delegations of ECR repositories, newest first',
  description: 'The list is complete and has no pages.',
  responses: { 200: ok('The delegations.', ListDelegationsResponse) },
})

const createDelegationRoute = route('post', PATH, 'registries:write', {
  operationId: 'createDelegation',
  summary: 'Create a delegation: pull from an ECR repository without a stored credential',
  description: 'The repository grants the access; the plane obtains a token for each pull when a container starts.',
  request: { body: json(CreateDelegationRequest), headers: CreateHeaders },
  responses: { 201: ok('The delegation.', EcrDelegation) },
  problems: [409],
})

const revokeRoute = route('delete', `${PATH}/{id}`, 'registries:write', {
  operationId: 'revokeDelegation',
  summary: 'Revoke a delegation: the next start pulls without it',
  description: 'Running containers continue.',
  request: { params: Params, query: DryRunQuery },
  responses: endedOrPlan('Revoked.'),
})

/** Registers `/v2/registries/delegations` (REG-3). Register it before `/v2/registries/{id}`, which would match the word as an id. */
export function registerDelegations(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => c.json({ delegations: await delegations.listDelegations(verbContext(c)) }, 200))
  app.openapi(createDelegationRoute, async (c) =>
    c.json(await delegations.createDelegation(verbContext(c), c.req.valid('json'), c.req.valid('header')['Idempotency-Key']), 201),
  )
  app.openapi(revokeRoute, (c) => endOrPlan(c, verbContext(c), planRevokeDelegation, delegations.revokeDelegation))
}
