import type { OpenAPIHono } from '@hono/zod-openapi'
import { DryRunQuery } from '../../contract/change-plan.ts'
import { CreateHeaders } from '../../contract/idempotency-key.ts'
import { CreateDelegationRequest, EcrDelegation, ListDelegationsResponse } from '../../contract/resources/delegations.ts'
import { CreateRegistryRequest, ListRegistriesResponse, Registry } from '../../contract/resources/registries.ts'
import * as delegations from '../../services/resources/delegations.ts'
import { planDeleteRegistry, planRevokeDelegation } from '../../services/resources/plan-deletions.ts'
import * as registries from '../../services/resources/registries.ts'
import { createOnce } from '../answers/create-once.ts'
import { endOrPlan } from '../answers/or-plan.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { endedOrPlan, idParams, json, ok } from '../openapi/rest-components.ts'
import { restRoutes } from '../openapi/routes.ts'

const route = restRoutes('Registries')
const DelegationParams = idParams('Delegation id.')
const Params = idParams('Credential id.')

const DELEGATIONS_PATH = '/v2/registries/delegations'

const listDelegationsRoute = route('get', DELEGATIONS_PATH, 'registries:read', {
  operationId: 'listDelegations',
  summary: 'List the delegations of ECR repositories, newest first',
  description: 'The list is complete and has no pages.',
  responses: { 200: ok('The delegations.', ListDelegationsResponse) },
})

const createDelegationRoute = route('post', DELEGATIONS_PATH, 'registries:write', {
  operationId: 'createDelegation',
  summary: 'Create a delegation: pull from an ECR repository without a stored credential',
  description: 'The repository grants the access; the plane obtains a token for each pull when a container starts.',
  request: { body: json(CreateDelegationRequest), headers: CreateHeaders },
  responses: { 201: ok('The delegation.', EcrDelegation) },
  problems: [409],
})

const revokeRoute = route('delete', `${DELEGATIONS_PATH}/{id}`, 'registries:write', {
  operationId: 'revokeDelegation',
  summary: 'Revoke a delegation: the next start pulls without it',
  description: 'Running containers continue.',
  request: { params: DelegationParams, query: DryRunQuery },
  responses: endedOrPlan('Revoked.'),
})

const PATH = '/v2/registries'
const ITEM_PATH = '/v2/registries/{id}'

const listRegistriesRoute = route('get', PATH, 'registries:read', {
  operationId: 'listRegistries',
  summary: 'List all registry credentials, oldest first',
  description: 'User names and passwords are never shown. The list is complete and has no pages.',
  responses: { 200: ok('The credentials, without user names and passwords.', ListRegistriesResponse) },
})

const createRegistryRoute = route('post', PATH, 'registries:write', {
  operationId: 'createRegistry',
  summary: 'Store a credential for private images',
  description:
    'It is stored encrypted, and pods, endpoints and templates refer to it by its id. A repeated `Idempotency-Key` returns the credential of the first call.',
  request: { body: json(CreateRegistryRequest), headers: CreateHeaders },
  responses: { 201: ok('The credential.', Registry) },
  problems: [409],
})

const getRoute = route('get', ITEM_PATH, 'registries:read', {
  operationId: 'getRegistry',
  etagOf: 'credential',
  summary: 'Read the name of a registry credential',
  description: 'User name and password are never shown.',
  request: { params: Params },
  responses: { 200: ok('The credential.', Registry) },
})

const deleteRoute = route('delete', ITEM_PATH, 'registries:write', {
  operationId: 'deleteRegistry',
  etagOf: 'credential',
  summary: 'Delete an unused credential; templates lose their reference to it',
  description: '400 while a live pod or an endpoint pulls with it.',
  request: { params: Params, query: DryRunQuery },
  responses: endedOrPlan('Deleted.'),
  problems: [400],
})

/** Registers `/v2/registries` (REG-1 to REG-3). The delegations come first, because `{id}` would match their word as an id. */
export function registerRegistries(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listDelegationsRoute, async (c) => c.json({ delegations: await delegations.listDelegations(verbContext(c)) }, 200))
  app.openapi(createDelegationRoute, (c) => createOnce(c, delegations.createDelegation))
  app.openapi(revokeRoute, (c) => endOrPlan(c, verbContext(c), planRevokeDelegation, delegations.revokeDelegation))
  app.openapi(listRegistriesRoute, async (c) => c.json({ registries: await registries.listRegistries(verbContext(c)) }, 200))
  app.openapi(createRegistryRoute, (c) => createOnce(c, registries.createRegistry))
  app.openapi(getRoute, async (c) => c.json(await registries.getRegistry(verbContext(c), c.req.valid('param').id), 200))
  app.openapi(deleteRoute, (c) => endOrPlan(c, verbContext(c), planDeleteRegistry, registries.deleteRegistry))
}
