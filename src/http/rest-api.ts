import type { OpenAPIHono } from '@hono/zod-openapi'
import { RESERVED_WORDS } from '../contract/reserved-words.ts'
import { unmatched } from './answers/unmatched.ts'
import type { AppEnv } from './app-env.ts'
import { registerJobDocumentation } from './jobs/documented-jobs.ts'
import { requireCaller } from './middleware/authentication.ts'
import { limitBody } from './middleware/body-limit.ts'
import { limitRate } from './middleware/rate-limit.ts'
import { refuseWhenFull } from './middleware/refuse-when-full.ts'
import { openApiDocument } from './openapi/document.ts'
import { openApiApp } from './openapi/openapi-app.ts'
import { registerRateHeaders, registerSecurity } from './openapi/rest-components.ts'
import { REST_TAGS } from './openapi/tags.ts'
import { registerAccount, registerUser } from './routes/accounts/account.ts'
import { registerAccountKeys } from './routes/accounts/account-keys.ts'
import { registerSecrets } from './routes/accounts/secrets.ts'
import { registerSshKeys } from './routes/accounts/ssh-keys.ts'
import { registerBilling } from './routes/billing/billing.ts'
import { registerSpend } from './routes/billing/spend.ts'
import { registerCatalog } from './routes/catalog/catalog.ts'
import { registerClusters } from './routes/clusters.ts'
import { registerEndpointWorkers } from './routes/endpoints/endpoint-workers.ts'
import { registerServerless } from './routes/endpoints/endpoints.ts'
import { registerExplanations } from './routes/explanations.ts'
import { registerHistory } from './routes/history/history.ts'
import { registerOrganizations } from './routes/organizations/organizations.ts'
import { registerPodExec } from './routes/pods/pod-exec.ts'
import { registerPodLogs } from './routes/pods/pod-logs.ts'
import { registerPods } from './routes/pods/pods.ts'
import { registerRegistries } from './routes/registries.ts'
import { registerTemplates } from './routes/templates.ts'
import { registerVolumes } from './routes/volumes.ts'
import { registerWebhooks } from './routes/webhooks.ts'

const DOCUMENT_PATH = '/v2/openapi.json'
const INFO = {
  title: 'podplane',
  version: '2',
  description:
    'Pods, Serverless endpoints and their queues. Errors are RFC 9457 problem details; times are RFC 3339 in UTC. Every response has an `X-Request-ID`, yours if you send one; include it when you report a fault.',
}

const CREDENTIALS = [
  'An API key, or the JWT of a session: `Authorization: Bearer <key>`.',
  'A session may select a team of its user by `X-Team-Id`; `X-Account-Id` of the response is the account that the request acted for.',
].join(' ')

/**
 * REST v2: everything below a reserved word (CFG-2). The checks run in the order size, key, rate, path and method (ERR-6). Only these paths
 * have that middleware, because the job API beside them has its own limits.
 */
export function restApi(): OpenAPIHono<AppEnv> {
  const app = openApiApp()
  registerSecurity(app, CREDENTIALS)
  registerRateHeaders(app)
  // CFG-3: the document is not an endpoint, so it stands before the key check.
  app.get(DOCUMENT_PATH, (c) => c.body(restDocumentText(), 200, { 'Content-Type': 'application/json' }))
  for (const word of RESERVED_WORDS) app.use(`/v2/${word}/*`, limitBody, requireCaller, refuseWhenFull, limitRate)
  registerServerless(app)
  registerWebhooks(app)
  registerEndpointWorkers(app)
  registerPodExec(app)
  registerExplanations(app)
  registerPodLogs(app)
  registerHistory(app)
  registerPods(app)
  registerClusters(app)
  registerCatalog(app)
  registerTemplates(app)
  registerVolumes(app)
  registerRegistries(app)
  registerSshKeys(app)
  registerSecrets(app)
  registerAccount(app)
  registerSpend(app)
  registerOrganizations(app)
  registerAccountKeys(app)
  registerUser(app)
  registerBilling(app)
  const last = unmatched(app, DOCUMENT_PATH)
  for (const word of RESERVED_WORDS) app.all(`/v2/${word}/*`, last)
  return app
}

/** The OpenAPI 3.1 document of REST v2 and the job API. */
export function restDocument() {
  const app = restApi()
  registerJobDocumentation(app)
  return openApiDocument(app, INFO, REST_TAGS)
}

let documentText: string | undefined
function restDocumentText(): string {
  documentText ??= JSON.stringify(restDocument())
  return documentText
}
