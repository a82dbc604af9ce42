import type { OpenAPIHono } from '@hono/zod-openapi'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { CreateJoinTokenRequest, ListJoinTokensResponse, NewJoinToken } from '../../../contract/hosts/hosts.ts'
import * as joinTokens from '../../../services/hosts/join-tokens.ts'
import { planRevokeJoinToken } from '../../../services/operator/plan-end.ts'
import { endOrPlan } from '../../answers/or-plan.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer, idParams, json, operatorEndedOrPlan } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const Params = idParams('Token id.')
const route = operatorRoutes('Hosts')

const createJoinTokenRoute = route('post', '/admin/v1/join-tokens', {
  operationId: 'createJoinToken',
  summary: 'Create a token with which one machine can join within 30 minutes',
  description: 'It sets the data center and the cloud of the machine, is valid for one machine, and is shown only in this response.',
  request: { body: json(CreateJoinTokenRequest) },
  responses: { 201: answer('The token, shown only once.', NewJoinToken) },
})

const listJoinTokensRoute = route('get', '/admin/v1/join-tokens', {
  operationId: 'listJoinTokens',
  summary: 'List join tokens',
  description: 'Used, expired and unused tokens, without their secrets.',
  responses: {
    200: answer(
      'Newest first, including those used or expired within the last 30 days, without the secrets. At most 1000.',
      ListJoinTokensResponse,
    ),
  },
})

const revokeJoinTokenRoute = route('delete', '/admin/v1/join-tokens/{id}', {
  operationId: 'revokeJoinToken',
  summary: 'Revoke a join token that no machine has used',
  description: '409 if a machine has joined with it.',
  request: { params: Params, query: DryRunQuery },
  responses: operatorEndedOrPlan('Revoked.'),
  problems: [409],
})

/** Registers the join tokens of the operator API (AUT-4a). */
export function registerJoinTokens(app: OpenAPIHono<AppEnv>): void {
  app.openapi(createJoinTokenRoute, async (c) => c.json(await joinTokens.createJoinToken(operatorContext(c), c.req.valid('json')), 201))
  app.openapi(listJoinTokensRoute, async (c) => c.json({ joinTokens: await joinTokens.listJoinTokens(c.env) }, 200))
  app.openapi(revokeJoinTokenRoute, (c) => endOrPlan(c, operatorContext(c), planRevokeJoinToken, joinTokens.revokeJoinToken))
}
