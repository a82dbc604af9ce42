import type { OpenAPIHono } from '@hono/zod-openapi'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { CreateHeaders } from '../../../contract/idempotency-key.ts'
import {
  AnswerInvitationRequest,
  CreatedInvitation,
  CreateInvitationRequest,
  ListInvitationsResponse,
  Organization,
} from '../../../contract/organizations/organizations.ts'
import * as invitations from '../../../services/organizations/invitations.ts'
import { planRevokeInvitation } from '../../../services/organizations/plan-members.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { ENDS } from '../../middleware/ending.ts'
import { endedOrPlan, json, ok, RATE_HEADERS } from '../../openapi/rest-components.ts'
import { InvitationParams, ITEM_PATH, OrganizationParams, PATH, route } from './paths.ts'

const LIST_PATH = `${ITEM_PATH}/invitations` as const
/** A reserved word in the place of an organization's id; ids are longer. */
const ANSWER_PATH = `${PATH}/invitations` as const

const createInvitationRoute = route('post', LIST_PATH, 'account:write', {
  operationId: 'createInvitation',
  summary: 'Invite an address; only this response has the token',
  description: 'It is valid for `expiresInDays`, and only while its creator may assign that role. An administrator cannot invite an owner.',
  request: { params: OrganizationParams, body: json(CreateInvitationRequest), headers: CreateHeaders },
  responses: { 201: ok('The invitation with its token.', CreatedInvitation) },
  problems: [409],
})

const listRoute = route('get', LIST_PATH, 'organizations:read', {
  operationId: 'listInvitations',
  summary: 'List open invitations, oldest first',
  description: 'Tokens are not shown again.',
  request: { params: OrganizationParams },
  responses: { 200: ok('The invitations, without tokens.', ListInvitationsResponse) },
})

const revokeRoute = route('delete', `${LIST_PATH}/{invitationId}`, 'account:write', {
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

/** Registers the invitations of organizations (TEAM-7 to TEAM-9). */
export function registerInvitations(app: OpenAPIHono<AppEnv>): void {
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
  app.openapi(listRoute, async (c) =>
    c.json({ invitations: await invitations.listInvitations(verbContext(c), c.req.valid('param').id) }, 200),
  )
  app.openapi(revokeRoute, async (c) => {
    const { id, invitationId } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planRevokeInvitation(verbContext(c), id, invitationId), 200)
    await invitations.revokeInvitation(verbContext(c), id, invitationId)
    return c.body(null, 204)
  })
}
