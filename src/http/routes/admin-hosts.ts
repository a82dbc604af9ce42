import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { CreateJoinTokenRequest, Host, JoinToken, ListHostsResponse } from '../../contract/hosts.ts'
import * as machines from '../../services/machines.ts'
import type { AppEnv } from '../app-env.ts'
import { refuseProtoMembers } from '../middleware/strict-json.ts'
import { problemResponses } from '../openapi-app.ts'
import { BEARER } from '../rest-components.ts'

const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' } }) })
const common = { tags: ['Hosts'], security: BEARER }

const createJoinTokenRoute = createRoute({
  ...common,
  method: 'post',
  path: '/admin/v1/join-tokens',
  operationId: 'createJoinToken',
  summary: 'Make a token with which one machine joins within 30 minutes',
  middleware: refuseProtoMembers,
  request: { body: { required: true, content: { 'application/json': { schema: CreateJoinTokenRequest } } } },
  responses: {
    201: { description: 'The token, shown this once.', content: { 'application/json': { schema: JoinToken } } },
    ...problemResponses([400, 401, 413, 415, 422]),
  },
})

const listHostsRoute = createRoute({
  ...common,
  method: 'get',
  path: '/admin/v1/hosts',
  operationId: 'listHosts',
  summary: 'List machines',
  responses: {
    200: { description: 'By name; removed ones are left out.', content: { 'application/json': { schema: ListHostsResponse } } },
    ...problemResponses([401]),
  },
})

const getHostRoute = createRoute({
  ...common,
  method: 'get',
  path: '/admin/v1/hosts/{id}',
  operationId: 'getHost',
  summary: 'Read a machine',
  request: { params: Params },
  responses: {
    200: { description: 'The machine.', content: { 'application/json': { schema: Host } } },
    ...problemResponses([401, 404]),
  },
})

const removeHostRoute = createRoute({
  ...common,
  method: 'delete',
  path: '/admin/v1/hosts/{id}',
  operationId: 'removeHost',
  summary: 'Remove a machine on which nothing is placed',
  request: { params: Params },
  responses: { 204: { description: 'Removed.' }, ...problemResponses([401, 404, 409]) },
})

/** Registers join tokens and machines of the operator API (AUT-4a). */
export function registerAdminHosts(app: OpenAPIHono<AppEnv>): void {
  app.openapi(createJoinTokenRoute, async (c) => c.json(await machines.createJoinToken(c.env, c.req.valid('json'), Date.now()), 201))
  app.openapi(listHostsRoute, async (c) => c.json({ hosts: await machines.listHosts(c.env) }, 200))
  app.openapi(getHostRoute, async (c) => c.json(await machines.getHost(c.env, c.req.valid('param').id), 200))
  app.openapi(removeHostRoute, async (c) => {
    await machines.removeHost(c.env, c.req.valid('param').id)
    return c.body(null, 204)
  })
}
