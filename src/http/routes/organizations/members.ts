import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import {
  HandOverRequest,
  OrganizationDetailsOrChangePlan,
  OrganizationMemberOrChangePlan,
  RemoveMemberQuery,
  UpdateMemberRequest,
} from '../../../contract/organizations/organizations.ts'
import * as members from '../../../services/organizations/members.ts'
import { planChangeRole, planHandOver, planRemoveMember } from '../../../services/organizations/plan-members.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { strictJson } from '../../middleware/strict-json.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { json, okOrPlan, PLANNED, RATE_HEADERS } from '../../openapi/rest-components.ts'
import { common, ITEM_PATH, MemberParams, OrganizationParams } from './paths.ts'

const MEMBER_PATH = `${ITEM_PATH}/members/{userId}` as const

const handOverRoute = createRoute({
  ...common,
  method: 'post',
  path: `${ITEM_PATH}/hand-over`,
  operationId: 'handOverOrganization',
  summary: 'Transfer the ownership to another member; the caller becomes an administrator',
  description: 'Only for owners; both roles change or neither.',
  ...scoped('account:write', [strictJson]),
  request: { params: OrganizationParams, query: DryRunQuery, body: json(HandOverRequest) },
  responses: {
    200: okOrPlan('The changed organization.', OrganizationDetailsOrChangePlan),
    ...problemResponses([400, 401, 403, 404, 409, 413, 415, 422, 429], RATE_HEADERS),
  },
})

const changeRoleRoute = createRoute({
  ...common,
  method: 'patch',
  path: MEMBER_PATH,
  operationId: 'updateOrganizationMember',
  etagOf: 'member',
  summary: 'Change the role of a member; in force everywhere within 60 seconds',
  description: 'An administrator cannot change owners; the last owner keeps the role (409).',
  ...scoped('account:write', [strictJson]),
  request: { params: MemberParams, query: DryRunQuery, body: json(UpdateMemberRequest) },
  responses: {
    200: okOrPlan('The changed member.', OrganizationMemberOrChangePlan),
    ...problemResponses([400, 401, 403, 404, 409, 413, 415, 422, 429], RATE_HEADERS),
  },
})

const removeRoute = createRoute({
  ...common,
  method: 'delete',
  path: MEMBER_PATH,
  operationId: 'removeOrganizationMember',
  etagOf: 'member',
  summary: 'Remove a member, or leave with your own id; keys of the leaving member are refused everywhere within 60 seconds',
  description: '`keysTo` transfers the keys to another member instead. The last owner cannot leave (409).',
  ...scoped('account:write', []),
  request: { params: MemberParams, query: RemoveMemberQuery.extend(DryRunQuery.shape) },
  responses: {
    200: PLANNED,
    204: { description: 'The membership is removed.', headers: RATE_HEADERS },
    ...problemResponses([400, 401, 403, 404, 409, 422, 429], RATE_HEADERS),
  },
})

/** Registers the changes of an organization's members (TEAM-5, TEAM-6, TEAM-10 to TEAM-12). */
export function registerOrganizationMembers(app: OpenAPIHono<AppEnv>): void {
  app.openapi(handOverRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planHandOver(verbContext(c), id, c.req.valid('json')), 200)
    return c.json(await members.handOver(verbContext(c), id, c.req.valid('json')), 200)
  })
  app.openapi(changeRoleRoute, async (c) => {
    const { id, userId } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planChangeRole(verbContext(c), id, userId, c.req.valid('json')), 200)
    return c.json(await members.changeRole(verbContext(c), id, userId, c.req.valid('json')), 200)
  })
  app.openapi(removeRoute, async (c) => {
    const { id, userId } = c.req.valid('param')
    const { keysTo, dryRun } = c.req.valid('query')
    if (dryRun) return c.json(await planRemoveMember(verbContext(c), id, userId, keysTo), 200)
    await members.removeMember(verbContext(c), id, userId, keysTo)
    return c.body(null, 204)
  })
}
