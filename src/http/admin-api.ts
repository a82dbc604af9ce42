import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Next } from 'hono'
import { Problem } from '../contract/problems.ts'
import { readSettings } from '../env.ts'
import { unmatched } from './answers/unmatched.ts'
import type { AppContext, AppEnv } from './app-env.ts'
import { requireOperator } from './middleware/authentication.ts'
import { limitBody } from './middleware/body-limit.ts'
import { openApiDocument } from './openapi/document.ts'
import { openApiApp } from './openapi/openapi-app.ts'
import { registerSecurity } from './openapi/rest-components.ts'
import { ADMIN_TAGS } from './openapi/tags.ts'
import { registerAdminCatalog } from './routes/catalog/admin-catalog.ts'
import { registerAdminAccounts } from './routes/operator/admin-accounts.ts'
import { registerAdminAudit } from './routes/operator/admin-audit.ts'
import { registerAdminHosts } from './routes/operator/admin-hosts.ts'
import { registerAdminLimits, registerAdminSpend } from './routes/operator/admin-limits.ts'
import { registerAdminPlane } from './routes/operator/admin-plane.ts'
import { registerAdminPlans } from './routes/operator/admin-plans.ts'
import { registerAdminUsers } from './routes/operator/admin-users.ts'

const DOCUMENT_PATH = '/admin/v1/openapi.json'
const INFO = {
  title: 'podplane operator API',
  version: '1',
  description: 'Users, keys, quotas and machines. Requires the operator key or the session of an operator.',
}

/** The operator API (AUT-4a). It has no rate limit, because its callers are operators. */
export function adminApi(): OpenAPIHono<AppEnv> {
  const app = openApiApp()
  registerSecurity(app, 'The operator key: `Authorization: Bearer <key>`. In a browser, the session of an operator.')
  app.use('/admin/v1/*', requireAdminHost)
  app.get(DOCUMENT_PATH, (c) => c.body(adminDocumentText(), 200, { 'Content-Type': 'application/json' }))
  app.use('/admin/v1/*', limitBody, requireOperator)
  registerAdminAccounts(app)
  registerAdminUsers(app)
  registerAdminLimits(app)
  registerAdminPlans(app)
  registerAdminSpend(app)
  registerAdminAudit(app)
  registerAdminCatalog(app)
  registerAdminHosts(app)
  registerAdminPlane(app)
  app.all('/admin/v1/*', unmatched(app, DOCUMENT_PATH))
  return app
}

/** ADM-10: where `ADMIN_HOST` names a host, the operator API answers 404 under every other host. */
async function requireAdminHost(c: AppContext, next: Next): Promise<void> {
  const { adminHost } = readSettings(c.env)
  if (adminHost !== null && new URL(c.req.url).host !== adminHost) throw new Problem('pathNotFound')
  await next()
}

/** The OpenAPI 3.1 document of the operator API. */
export function adminDocument() {
  return openApiDocument(adminApi(), INFO, ADMIN_TAGS)
}

let documentText: string | undefined
function adminDocumentText(): string {
  documentText ??= JSON.stringify(adminDocument())
  return documentText
}
