import type { OpenAPIHono } from '@hono/zod-openapi'
import { ListWaitingQuery, ListWaitingResponse } from '../../../contract/hosts/waiting.ts'
import { listWaiting } from '../../../services/hosts/waiting.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const route = operatorRoutes('Hosts')

const listRoute = route('get', '/admin/v1/waiting', {
  operationId: 'listWaiting',
  summary: 'List endpoints that wait for capacity, the longest first',
  description: 'Endpoints with a worker that no host has capacity for, its requirements, and how many hosts violate each constraint.',
  request: { query: ListWaitingQuery },
  responses: { 200: answer('A page, at most 200.', ListWaitingResponse) },
})

/** Registers the list of workloads that wait for capacity (WHY-13). */
export function registerWaiting(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => c.json(await listWaiting(operatorContext(c), c.req.valid('query')), 200))
}
