import type { OpenAPIHono } from '@hono/zod-openapi'
import { ActingUser } from '../../../contract/accounts/accounts.ts'
import { AuditStateQuery, AuditStateResponse, ListAuditQuery, ListAuditResponse } from '../../../contract/accounts/audit.ts'
import { AccountLimits } from '../../../contract/accounts/budgets.ts'
import { ListEventsQuery, ListEventsResponse } from '../../../contract/accounts/events.ts'
import { getStateAt, listChanges } from '../../../services/accounts/audit-log.ts'
import { listEvents } from '../../../services/accounts/events.ts'
import { getUser } from '../../../services/accounts/user.ts'
import { getLimits } from '../../../services/budgets.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scopedByVerb } from '../../middleware/scope.ts'
import { ok } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const route = restRoutes('Account')

const limitsRoute = route('get', '/v2/account/limits', 'account:read', {
  operationId: 'getAccountLimits',
  summary: 'Read the use and bound of each budget of the account',
  description: 'A create request above a budget is refused with the name of the budget; the operator can raise it.',
  responses: { 200: ok('Use and bound of each budget.', AccountLimits) },
})

const auditRoute = route('get', '/v2/account/audit', 'account:read', {
  operationId: 'listAudit',
  summary: 'List changes, newest first',
  description: 'With `account:write` all changes of the account, otherwise the changes of your own user. A page has at most 200.',
  request: { query: ListAuditQuery },
  responses: { 200: ok('A page of changes.', ListAuditResponse) },
})

const stateRoute = route('get', '/v2/account/audit/state', 'account:read', {
  operationId: 'getAuditState',
  summary: 'Read a pod, an endpoint or a template as of a time',
  description: 'Derived from its changes. It also needs the scope that reads such a resource.',
  request: { query: AuditStateQuery },
  responses: { 200: ok('The resource at that time.', AuditStateResponse) },
  problems: [404],
})

const eventsRoute = route('get', '/v2/events', 'account:read', {
  operationId: 'listEvents',
  summary: 'List events as sentences, newest first',
  description: 'The changes of `/v2/account/audit` as sentences, without the previous and the new values. A page has at most 200.',
  request: { query: ListEventsQuery },
  responses: { 200: ok('A page of events.', ListEventsResponse) },
})

const userRoute = route('get', '/v2/user', scopedByVerb('account:read'), {
  operationId: 'getUser',
  summary: 'Read the current user: the user who signed in, or who created the key',
  description: 'The user whose limits and audit rows a call counts for, and the account that it acts for.',
  responses: { 200: ok('The user.', ActingUser) },
  problems: [404],
})

/** Registers `/v2/account/limits` (BUDGET-1), `/v2/account/audit` (AUD-8, AUD-9) and `/v2/events` (AUD-22). */
export function registerAccount(app: OpenAPIHono<AppEnv>): void {
  app.openapi(limitsRoute, async (c) => c.json(await getLimits(verbContext(c)), 200))
  app.openapi(auditRoute, async (c) => c.json(await listChanges(verbContext(c), c.req.valid('query')), 200))
  app.openapi(eventsRoute, async (c) => c.json(await listEvents(verbContext(c), c.req.valid('query')), 200))
  app.openapi(stateRoute, async (c) => c.json(await getStateAt(verbContext(c), c.req.valid('query')), 200))
}

/** Registers `/v2/user` (ACC-7). */
export function registerUser(app: OpenAPIHono<AppEnv>): void {
  app.openapi(userRoute, async (c) => c.json(await getUser(verbContext(c)), 200))
}
