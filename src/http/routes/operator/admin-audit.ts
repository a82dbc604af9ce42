import type { OpenAPIHono } from '@hono/zod-openapi'
import { OperatorAuditQuery, OperatorAuditResponse } from '../../../contract/accounts/audit.ts'
import { listAllChanges } from '../../../services/accounts/audit-log.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const route = operatorRoutes('Audit')

const listRoute = route('get', '/admin/v1/audit', {
  operationId: 'listAllAudit',
  summary: 'List changes of all accounts and of the operator, newest first',
  description: 'Rows are written with the change itself and never altered.',
  request: { query: OperatorAuditQuery },
  responses: { 200: answer('A page of changes, at most 200.', OperatorAuditResponse) },
})

/** Registers the audit log of the operator API (AUD-8). */
export function registerAdminAudit(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => c.json(await listAllChanges(operatorContext(c), c.req.valid('query')), 200))
}
