import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
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
import { scoped } from '../../middleware/scope.ts'
import { strictJson } from '../../middleware/strict-json.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { json, ok, PLANNED, RATE_HEADERS } from '../../openapi/rest-components.ts'
import { common, InvitationParams, ITEM_PATH, OrganizationParams, PATH } from './paths.ts'

const LIST_PATH = `${ITEM_PATH}/invitations` as const
/** A reserved word in the place of an organization's id; ids are longer. */
const ANSWER_PATH = `${PATH}/invitations` as const

const createInvitationRoute = createRoute({
  ...common,
  method: 'post',
  path: LIST_PATH,
  operationId: 'createInvitation',
  summary: 'Invite an address; only this response has the token',
  description: 'It is valid for `expiresInDays`, and only while its creator may assign that role. An administrator cannot invite an owner.',
  ...scoped('account:write', [strictJson]),
  request: { params: OrganizationParams, body: json(CreateInvitationRequest), headers: CreateHeaders },
  responses: {
    201: ok('The invitation with its token.', CreatedInvitation),
    ...problemResponses([400, 401, 403, 404, 409, 413, 415, 422, 429], RATE_HEADERS),
  },
})

const listRoute = createRoute({
  ...common,
  method: 'get',
  path: LIST_PATH,
  operationId: 'listInvitations',
  summary: 'List open invitations, oldest first',
  description: 'Tokens are not shown again.',
  ...scoped('organizations:read', []),
  request: { params: OrganizationParams },
  responses: {
    200: ok('The invitations, without tokens.', ListInvitationsResponse),
    ...problemResponses([401, 403, 404, 429], RATE_HEADERS),
  },
})

const revokeRoute = createRoute({
  ...common,
  method: 'delete',
  path: `${LIST_PATH}/{invitationId}`,
  operationId: 'revokeInvitation',
  summary: 'Revoke an open invitation',
  description: 'Its token becomes invalid.',
  ...scoped('account:write', []),
  request: { params: InvitationParams, query: DryRunQuery },
  responses: {
    200: PLANNED,
    204: { description: 'Revoked.', headers: RATE_HEADERS },
    ...problemResponses([401, 403, 404, 409, 422, 429], RATE_HEADERS),
  },
})

const acceptRoute = createRoute({
  ...common,
  method: 'post',
  path: `${ANSWER_PATH}/accept`,
  operationId: 'acceptInvitation',
  summary: "Accept an invitation for the caller's address by its token",
  description:
    'Requires a session or a key of the personal account; keys of organizations are refused. A token for another address is 404, like a used one.',
  ...scoped('account:write', [strictJson]),
  request: { body: json(AnswerInvitationRequest) },
  responses: {
    200: ok('The organization.', Organization),
    ...problemResponses([400, 401, 403, 404, 409, 413, 415, 422, 429], RATE_HEADERS),
  },
})

const declineRoute = createRoute({
  ...common,
  method: 'post',
  path: `${ANSWER_PATH}/decline`,
  operationId: 'declineInvitation',
  summary: "Decline an invitation for the caller's address",
  description:
    'Requires a session or a key of the personal account; keys of organizations are refused. A token for another address is 404, like a used one.',
  ...scoped('account:write', [ENDS, strictJson]),
  request: { body: json(AnswerInvitationRequest) },
  responses: {
    204: { description: 'Declined.', headers: RATE_HEADERS },
    ...problemResponses([400, 401, 403, 404, 409, 413, 415, 422, 429], RATE_HEADERS),
  },
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
