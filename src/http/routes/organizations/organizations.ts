import type { OpenAPIHono } from '@hono/zod-openapi'
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
import { createOnce } from '../../answers/create-once.ts'
import { endOrPlan } from '../../answers/or-plan.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { endedOrPlan, json, ok } from '../../openapi/rest-components.ts'
import { ITEM_PATH, OrganizationParams, PATH, route } from './paths.ts'

const listRoute = route('get', PATH, 'organizations:read', {
  operationId: 'listOrganizations',
  summary: 'List the organizations of the caller, newest first',
  description: "The organizations of the user, with the user's role. The list is complete and has no pages.",
  responses: { 200: ok("The organizations, each with the caller's role; without personal accounts.", ListOrganizationsResponse) },
})

const createOrganizationRoute = route('post', PATH, 'account:write', {
  operationId: 'createOrganization',
  summary: 'Create an organization that the caller owns',
  description: 'Resources, keys and bills of an organization are separate from those of its members.',
  request: { body: json(CreateOrganizationRequest), headers: CreateHeaders },
  responses: { 201: ok('The organization.', Organization) },
  problems: [409],
})

const getRoute = route('get', ITEM_PATH, 'organizations:read', {
  operationId: 'getOrganization',
  etagOf: 'organization',
  summary: 'Read an organization and its members',
  description: 'For every member; 404 for an organization that the caller does not belong to.',
  request: { params: OrganizationParams },
  responses: { 200: ok('The organization.', OrganizationDetails) },
})

const renameRoute = route('patch', ITEM_PATH, 'account:write', {
  operationId: 'updateOrganization',
  etagOf: 'organization',
  summary: 'Rename an organization',
  description: 'For owners and administrators.',
  request: { params: OrganizationParams, body: json(UpdateOrganizationRequest) },
  responses: { 200: ok('The changed organization.', Organization) },
  problems: [409],
})

const deleteRoute = route('delete', ITEM_PATH, 'account:write', {
  operationId: 'deleteOrganization',
  etagOf: 'organization',
  summary: 'Delete an empty organization with its members, invitations and keys',
  description: 'Only for owners; 409 lists the remaining resources.',
  request: { params: OrganizationParams, query: DryRunQuery },
  responses: endedOrPlan('Deleted.'),
  problems: [409],
})

/** Registers `/v2/organizations` (ORG-1, ORG-2, TEAM-3, TEAM-13). */
export function registerOrganizations(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => c.json({ organizations: await organizations.listOrganizations(verbContext(c)) }, 200))
  app.openapi(createOrganizationRoute, (c) => createOnce(c, organizations.createOrganization))
  app.openapi(getRoute, async (c) => c.json(await organizations.getOrganization(verbContext(c), c.req.valid('param').id), 200))
  app.openapi(renameRoute, async (c) =>
    c.json(await organizations.renameOrganization(verbContext(c), c.req.valid('param').id, c.req.valid('json')), 200),
  )
  app.openapi(deleteRoute, (c) => endOrPlan(c, verbContext(c), planDeleteOrganization, organizations.deleteOrganization))
}
