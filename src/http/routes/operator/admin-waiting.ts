import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { ListWaitingQuery, ListWaitingResponse } from '../../../contract/hosts/waiting.ts'
import { listWaiting } from '../../../services/hosts/waiting.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER } from '../../openapi/rest-components.ts'

const listRoute = createRoute({
  tags: ['Hosts'],
  security: BEARER,
  method: 'get',
  path: '/admin/v1/waiting',
  operationId: 'listWaiting',
  summary: 'List endpoints that wait for capacity, the longest first',
  description: 'Endpoints with a worker that no host has capacity for, its requirements, and how many hosts violate each constraint.',
  request: { query: ListWaitingQuery },
  responses: {
    200: { description: 'A page, at most 200.', content: { 'application/json': { schema: ListWaitingResponse } } },
    ...problemResponses([401, 422]),
  },
})

/** Registers the list of workloads that wait for capacity (WHY-13). */
export function registerWaiting(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => c.json(await listWaiting(operatorContext(c), c.req.valid('query')), 200))
}
