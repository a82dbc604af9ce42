import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { CreateJoinTokenRequest, ListJoinTokensResponse, NewJoinToken } from '../../../contract/hosts/hosts.ts'
import * as joinTokens from '../../../services/hosts/join-tokens.ts'
import { planRevokeJoinToken } from '../../../services/operator/plan-end.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { strictJson } from '../../middleware/strict-json.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, PLANNED_FOR_OPERATOR } from '../../openapi/rest-components.ts'

const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Token id.' }) })
const common = { tags: ['Hosts'], security: BEARER }

const createJoinTokenRoute = createRoute({
  ...common,
  method: 'post',
  path: '/admin/v1/join-tokens',
  operationId: 'createJoinToken',
  summary: 'Create a token with which one machine can join within 30 minutes',
  description: 'It sets the data center and the cloud of the machine, is valid for one machine, and is shown only in this response.',
  middleware: strictJson,
  request: { body: { required: true, content: { 'application/json': { schema: CreateJoinTokenRequest } } } },
  responses: {
    201: { description: 'The token, shown only once.', content: { 'application/json': { schema: NewJoinToken } } },
    ...problemResponses([400, 401, 413, 415, 422]),
  },
})

const listJoinTokensRoute = createRoute({
  ...common,
  method: 'get',
  path: '/admin/v1/join-tokens',
  operationId: 'listJoinTokens',
  summary: 'List join tokens',
  description: 'Used, expired and unused tokens, without their secrets.',
  responses: {
    200: {
      description: 'Newest first, including those used or expired within the last 30 days, without the secrets. At most 1000.',
      content: { 'application/json': { schema: ListJoinTokensResponse } },
    },
    ...problemResponses([401]),
  },
})

const revokeJoinTokenRoute = createRoute({
  ...common,
  method: 'delete',
  path: '/admin/v1/join-tokens/{id}',
  operationId: 'revokeJoinToken',
  summary: 'Revoke a join token that no machine has used',
  description: '409 if a machine has joined with it.',
  request: { params: Params, query: DryRunQuery },
  responses: { 200: PLANNED_FOR_OPERATOR, 204: { description: 'Revoked.' }, ...problemResponses([401, 404, 409, 422]) },
})

/** Registers the join tokens of the operator API (AUT-4a). */
export function registerJoinTokens(app: OpenAPIHono<AppEnv>): void {
  app.openapi(createJoinTokenRoute, async (c) => c.json(await joinTokens.createJoinToken(operatorContext(c), c.req.valid('json')), 201))
  app.openapi(listJoinTokensRoute, async (c) => c.json({ joinTokens: await joinTokens.listJoinTokens(c.env) }, 200))
  app.openapi(revokeJoinTokenRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planRevokeJoinToken(operatorContext(c), id), 200)
    await joinTokens.revokeJoinToken(operatorContext(c), id)
    return c.body(null, 204)
  })
}
