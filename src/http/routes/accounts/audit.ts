import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { AuditStateQuery, AuditStateResponse, ListAuditQuery, ListAuditResponse } from '../../../contract/accounts/audit.ts'
import { ListEventsQuery, ListEventsResponse } from '../../../contract/accounts/events.ts'
import { getStateAt, listChanges } from '../../../services/accounts/audit-log.ts'
import { listEvents } from '../../../services/accounts/events.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scoped } from '../../middleware/scope.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, ok, RATE_HEADERS } from '../../openapi/rest-components.ts'

const common = { tags: ['Account'], security: BEARER, ...scoped('account:read', []) }

const listRoute = createRoute({
  ...common,
  method: 'get',
  path: '/v2/account/audit',
  operationId: 'listAudit',
  summary: 'List changes, newest first',
  description: 'With `account:write` all changes of the account, otherwise the changes of your own user. A page has at most 200.',
  request: { query: ListAuditQuery },
  responses: { 200: ok('A page of changes.', ListAuditResponse), ...problemResponses([401, 403, 422, 429], RATE_HEADERS) },
})

const stateRoute = createRoute({
  ...common,
  method: 'get',
  path: '/v2/account/audit/state',
  operationId: 'getAuditState',
  summary: 'Read a pod, an endpoint or a template as of a time',
  description: 'Derived from its changes. It also needs the scope that reads such a resource.',
  request: { query: AuditStateQuery },
  responses: { 200: ok('The resource at that time.', AuditStateResponse), ...problemResponses([401, 403, 404, 422, 429], RATE_HEADERS) },
})

const eventsRoute = createRoute({
  ...common,
  method: 'get',
  path: '/v2/events',
  operationId: 'listEvents',
  summary: 'List events as sentences, newest first',
  description: 'The changes of `/v2/account/audit` as sentences, without the previous and the new values. A page has at most 200.',
  request: { query: ListEventsQuery },
  responses: { 200: ok('A page of events.', ListEventsResponse), ...problemResponses([401, 403, 422, 429], RATE_HEADERS) },
})

/** Registers `/v2/account/audit` (AUD-8, AUD-9) and `/v2/events` (AUD-22). */
export function registerAudit(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => c.json(await listChanges(verbContext(c), c.req.valid('query')), 200))
  app.openapi(eventsRoute, async (c) => c.json(await listEvents(verbContext(c), c.req.valid('query')), 200))
  app.openapi(stateRoute, async (c) => c.json(await getStateAt(verbContext(c), c.req.valid('query')), 200))
}
