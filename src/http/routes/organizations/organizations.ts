import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { CreateHeaders } from '../../../contract/idempotency-key.ts'
import {
  CreateOrganizationRequest,
  ListOrganizationsResponse,
  Organization,
  OrganizationDetails,
  UpdateOrganizationRequest,
} from '../../../contract/organizations/organizations.ts'
import * as organizations from '../../../services/organizations/organizations.ts'
import { planDeleteOrganization } from '../../../services/organizations/plan-members.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { strictJson } from '../../middleware/strict-json.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { json, ok, PLANNED, RATE_HEADERS } from '../../openapi/rest-components.ts'
import { common, ITEM_PATH, OrganizationParams, PATH } from './paths.ts'

const listRoute = createRoute({
  ...common,
  method: 'get',
  path: PATH,
  operationId: 'listOrganizations',
  summary: 'List the organizations of the caller, newest first',
  description: "The organizations of the user, with the user's role. The list is complete and has no pages.",
  ...scoped('organizations:read', []),
  responses: {
    200: ok("The organizations, each with the caller's role; without personal accounts.", ListOrganizationsResponse),
    ...problemResponses([401, 403, 429], RATE_HEADERS),
  },
})

const createOrganizationRoute = createRoute({
  ...common,
  method: 'post',
  path: PATH,
  operationId: 'createOrganization',
  summary: 'Create an organization that the caller owns',
  description: 'Resources, keys and bills of an organization are separate from those of its members.',
  ...scoped('account:write', [strictJson]),
  request: { body: json(CreateOrganizationRequest), headers: CreateHeaders },
  responses: { 201: ok('The organization.', Organization), ...problemResponses([400, 401, 403, 409, 413, 415, 422, 429], RATE_HEADERS) },
})

const getRoute = createRoute({
  ...common,
  method: 'get',
  path: ITEM_PATH,
  operationId: 'getOrganization',
  etagOf: 'organization',
  summary: 'Read an organization and its members',
  description: 'For every member; 404 for an organization that the caller does not belong to.',
  ...scoped('organizations:read', []),
  request: { params: OrganizationParams },
  responses: { 200: ok('The organization.', OrganizationDetails), ...problemResponses([401, 403, 404, 429], RATE_HEADERS) },
})

const renameRoute = createRoute({
  ...common,
  method: 'patch',
  path: ITEM_PATH,
  operationId: 'updateOrganization',
  etagOf: 'organization',
  summary: 'Rename an organization',
  description: 'For owners and administrators.',
  ...scoped('account:write', [strictJson]),
  request: { params: OrganizationParams, body: json(UpdateOrganizationRequest) },
  responses: {
    200: ok('The changed organization.', Organization),
    ...problemResponses([400, 401, 403, 404, 409, 413, 415, 422, 429], RATE_HEADERS),
  },
})

const deleteRoute = createRoute({
  ...common,
  method: 'delete',
  path: ITEM_PATH,
  operationId: 'deleteOrganization',
  etagOf: 'organization',
  summary: 'Delete an empty organization with its members, invitations and keys',
  description: 'Only for owners; 409 lists the remaining resources.',
  ...scoped('account:write', []),
  request: { params: OrganizationParams, query: DryRunQuery },
  responses: {
    200: PLANNED,
    204: { description: 'Deleted.', headers: RATE_HEADERS },
    ...problemResponses([401, 403, 404, 409, 422, 429], RATE_HEADERS),
  },
})

/** Registers `/v2/organizations` (ORG-1, ORG-2, TEAM-3, TEAM-13). */
export function registerOrganizations(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => c.json({ organizations: await organizations.listOrganizations(verbContext(c)) }, 200))
  app.openapi(createOrganizationRoute, async (c) =>
    c.json(await organizations.createOrganization(verbContext(c), c.req.valid('json'), c.req.valid('header')['Idempotency-Key']), 201),
  )
  app.openapi(getRoute, async (c) => c.json(await organizations.getOrganization(verbContext(c), c.req.valid('param').id), 200))
  app.openapi(renameRoute, async (c) =>
    c.json(await organizations.renameOrganization(verbContext(c), c.req.valid('param').id, c.req.valid('json')), 200),
  )
  app.openapi(deleteRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planDeleteOrganization(verbContext(c), id), 200)
    await organizations.deleteOrganization(verbContext(c), id)
    return c.body(null, 204)
  })
}
