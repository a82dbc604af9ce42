import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { CreateHeaders } from '../../../contract/idempotency-key.ts'
import {
  AnswerInvitationRequest,
  CreatedInvitation,
  CreateInvitationRequest,
  CreateOrganizationRequest,
  HandOverRequest,
  ListInvitationsResponse,
  ListOrganizationsResponse,
  Organization,
  OrganizationDetails,
  OrganizationDetailsOrChangePlan,
  OrganizationMemberOrChangePlan,
  RemoveMemberQuery,
  UpdateMemberRequest,
  UpdateOrganizationRequest,
} from '../../../contract/organizations/organizations.ts'
import * as invitations from '../../../services/organizations/invitations.ts'
import * as members from '../../../services/organizations/members.ts'
import * as organizations from '../../../services/organizations/organizations.ts'
import {
  planChangeRole,
  planDeleteOrganization,
  planHandOver,
  planRemoveMember,
  planRevokeInvitation,
} from '../../../services/organizations/plan-members.ts'
import { createOnce } from '../../answers/create-once.ts'
import { changeOrPlan, endOrPlan } from '../../answers/or-plan.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { ENDS } from '../../middleware/ending.ts'
import { endedOrPlan, json, ok, okOrPlan, pathParam, RATE_HEADERS } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const PATH = '/v2/organizations'
const ITEM_PATH = `${PATH}/{id}` as const

const organizationId = pathParam('id', 'Organization id.')

const OrganizationParams = z.object({ id: organizationId })
const MemberParams = z.object({ id: organizationId, userId: pathParam('userId', 'User id of the member.') })
const InvitationParams = z.object({ id: organizationId, invitationId: pathParam('invitationId', 'Invitation id.') })

const route = restRoutes('Organizations')

const INVITATIONS_PATH = `${ITEM_PATH}/invitations` as const
/** A reserved word in the place of an organization's id; ids are longer. */
const ANSWER_PATH = `${PATH}/invitations` as const

const createInvitationRoute = route('post', INVITATIONS_PATH, 'account:write', {
  operationId: 'createInvitation',
  summary: 'Invite an address; only this response has the token',
  description: 'It is valid for `expiresInDays`, and only while its creator may assign that role. An administrator cannot invite an owner.',
  request: { params: OrganizationParams, body: json(CreateInvitationRequest), headers: CreateHeaders },
  responses: { 201: ok('The invitation with its token.', CreatedInvitation) },
  problems: [409],
})

const listInvitationsRoute = route('get', INVITATIONS_PATH, 'organizations:read', {
  operationId: 'listInvitations',
  summary: 'List open invitations, oldest first',
  description: 'Tokens are not shown again.',
  request: { params: OrganizationParams },
  responses: { 200: ok('The invitations, without tokens.', ListInvitationsResponse) },
})

const revokeInvitationRoute = route('delete', `${INVITATIONS_PATH}/{invitationId}`, 'account:write', {
  operationId: 'revokeInvitation',
  summary: 'Revoke an open invitation',
  description: 'Its token becomes invalid.',
  request: { params: InvitationParams, query: DryRunQuery },
  responses: endedOrPlan('Revoked.'),
  problems: [409],
})

const acceptRoute = route('post', `${ANSWER_PATH}/accept`, 'account:write', {
  operationId: 'acceptInvitation',
  summary: "Accept an invitation for the caller's address by its token",
  description:
    'Requires a session or a key of the personal account; keys of organizations are refused. A token for another address is 404, like a used one.',
  request: { body: json(AnswerInvitationRequest) },
  responses: { 200: ok('The organization.', Organization) },
  problems: [404, 409],
})

const declineRoute = route('post', `${ANSWER_PATH}/decline`, 'account:write', {
  operationId: 'declineInvitation',
  summary: "Decline an invitation for the caller's address",
  description:
    'Requires a session or a key of the personal account; keys of organizations are refused. A token for another address is 404, like a used one.',
  middleware: [ENDS],
  request: { body: json(AnswerInvitationRequest) },
  responses: { 204: { description: 'Declined.', headers: RATE_HEADERS } },
  problems: [404, 409],
})

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

const removeMemberRoute = route('delete', MEMBER_PATH, 'account:write', {
  operationId: 'removeOrganizationMember',
  etagOf: 'member',
  summary: 'Remove a member, or leave with your own id; keys of the leaving member are refused everywhere within 60 seconds',
  description: '`keysTo` transfers the keys to another member instead. The last owner cannot leave (409).',
  request: { params: MemberParams, query: RemoveMemberQuery.extend(DryRunQuery.shape) },
  responses: endedOrPlan('The membership is removed.'),
  problems: [400, 409],
})

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

/** Registers `/v2/organizations` (ORG-1, ORG-2, TEAM-3, TEAM-5 to TEAM-13). */
export function registerOrganizations(app: OpenAPIHono<AppEnv>): void {
  app.openapi(acceptRoute, async (c) => c.json(await invitations.acceptInvitation(verbContext(c), c.req.valid('json').token), 200))
  app.openapi(declineRoute, async (c) => {
    await invitations.declineInvitation(verbContext(c), c.req.valid('json').token)
    return c.body(null, 204)
  })
  app.openapi(createInvitationRoute, async (c) => {
    const { id } = c.req.valid('param')
    return c.json(
      await invitations.createInvitation(verbContext(c), id, c.req.valid('json'), c.req.valid('header')['Idempotency-Key']),
      201,
    )
  })
  app.openapi(listInvitationsRoute, async (c) =>
    c.json({ invitations: await invitations.listInvitations(verbContext(c), c.req.valid('param').id) }, 200),
  )
  app.openapi(revokeInvitationRoute, async (c) => {
    const { id, invitationId } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planRevokeInvitation(verbContext(c), id, invitationId), 200)
    await invitations.revokeInvitation(verbContext(c), id, invitationId)
    return c.body(null, 204)
  })
  app.openapi(handOverRoute, (c) => changeOrPlan(c, verbContext(c), planHandOver, members.handOver))
  app.openapi(changeRoleRoute, async (c) => {
    const { id, userId } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planChangeRole(verbContext(c), id, userId, c.req.valid('json')), 200)
    return c.json(await members.changeRole(verbContext(c), id, userId, c.req.valid('json')), 200)
  })
  app.openapi(removeMemberRoute, async (c) => {
    const { id, userId } = c.req.valid('param')
    const { keysTo, dryRun } = c.req.valid('query')
    if (dryRun) return c.json(await planRemoveMember(verbContext(c), id, userId, keysTo), 200)
    await members.removeMember(verbContext(c), id, userId, keysTo)
    return c.body(null, 204)
  })
  app.openapi(listRoute, async (c) => c.json({ organizations: await organizations.listOrganizations(verbContext(c)) }, 200))
  app.openapi(createOrganizationRoute, (c) => createOnce(c, organizations.createOrganization))
  app.openapi(getRoute, async (c) => c.json(await organizations.getOrganization(verbContext(c), c.req.valid('param').id), 200))
  app.openapi(renameRoute, async (c) =>
    c.json(await organizations.renameOrganization(verbContext(c), c.req.valid('param').id, c.req.valid('json')), 200),
  )
  app.openapi(deleteRoute, (c) => endOrPlan(c, verbContext(c), planDeleteOrganization, organizations.deleteOrganization))
}
