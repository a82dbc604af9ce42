import type { OpenAPIHono } from '@hono/zod-openapi'
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
import { changeOrPlan } from '../../answers/or-plan.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { endedOrPlan, json, okOrPlan } from '../../openapi/rest-components.ts'
import { ITEM_PATH, MemberParams, OrganizationParams, route } from './paths.ts'

const MEMBER_PATH = `${ITEM_PATH}/members/{userId}` as const

const handOverRoute = route('post', `${ITEM_PATH}/hand-over`, 'account:write', {
  operationId: 'handOverOrganization',
  summary: 'Transfer the ownership to another member; the caller becomes an administrator',
  description: 'Only for owners; both roles change or neither.',
  request: { params: OrganizationParams, query: DryRunQuery, body: json(HandOverRequest) },
  responses: { 200: okOrPlan('The changed organization.', OrganizationDetailsOrChangePlan) },
  problems: [409],
})

const changeRoleRoute = route('patch', MEMBER_PATH, 'account:write', {
  operationId: 'updateOrganizationMember',
  etagOf: 'member',
  summary: 'Change the role of a member; in force everywhere within 60 seconds',
  description: 'An administrator cannot change owners; the last owner keeps the role (409).',
  request: { params: MemberParams, query: DryRunQuery, body: json(UpdateMemberRequest) },
  responses: { 200: okOrPlan('The changed member.', OrganizationMemberOrChangePlan) },
  problems: [409],
})

const removeRoute = route('delete', MEMBER_PATH, 'account:write', {
  operationId: 'removeOrganizationMember',
  etagOf: 'member',
  summary: 'Remove a member, or leave with your own id; keys of the leaving member are refused everywhere within 60 seconds',
  description: '`keysTo` transfers the keys to another member instead. The last owner cannot leave (409).',
  request: { params: MemberParams, query: RemoveMemberQuery.extend(DryRunQuery.shape) },
  responses: endedOrPlan('The membership is removed.'),
  problems: [400, 409],
})

/** Registers the changes of an organization's members (TEAM-5, TEAM-6, TEAM-10 to TEAM-12). */
export function registerOrganizationMembers(app: OpenAPIHono<AppEnv>): void {
  app.openapi(handOverRoute, (c) => changeOrPlan(c, verbContext(c), planHandOver, members.handOver))
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
