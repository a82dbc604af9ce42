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
import { registerAdminSpend } from './routes/billing/admin-spend.ts'
import { registerAdminCatalog } from './routes/catalog/admin-catalog.ts'
import { registerHostMetrics } from './routes/history/admin-host-metrics.ts'
import { registerAdminAccounts } from './routes/operator/admin-accounts.ts'
import { registerAdminAudit } from './routes/operator/admin-audit.ts'
import { registerAdminBudgets } from './routes/operator/admin-budgets.ts'
import { registerDeletedVolumes } from './routes/operator/admin-deleted-volumes.ts'
import { registerAdminHosts } from './routes/operator/admin-hosts.ts'
import { registerAdminIdentities } from './routes/operator/admin-identities.ts'
import { registerAdminIsolation } from './routes/operator/admin-isolation.ts'
import { registerJoinTokens } from './routes/operator/admin-join-tokens.ts'
import { registerAdminLimits } from './routes/operator/admin-limits.ts'
import { registerAdminOffboarding } from './routes/operator/admin-offboarding.ts'
import { registerPlane } from './routes/operator/admin-plane.ts'
import { registerAdminPlans } from './routes/operator/admin-plans.ts'
import { registerAdminSecrets } from './routes/operator/admin-secrets.ts'
import { registerAdminSessions } from './routes/operator/admin-sessions.ts'
import { registerAdminSuspension } from './routes/operator/admin-suspension.ts'
import { registerWaiting } from './routes/operator/admin-waiting.ts'

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
  registerAdminSuspension(app)
  registerAdminIdentities(app)
  registerAdminSessions(app)
  registerAdminIsolation(app)
  registerAdminOffboarding(app)
  registerAdminBudgets(app)
  registerAdminLimits(app)
  registerAdminPlans(app)
  registerAdminSpend(app)
  registerAdminAudit(app)
  registerAdminCatalog(app)
  registerJoinTokens(app)
  registerAdminHosts(app)
  registerWaiting(app)
  registerHostMetrics(app)
  registerAdminSecrets(app)
  registerPlane(app)
  registerDeletedVolumes(app)
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
