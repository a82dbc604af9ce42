import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Next } from 'hono'
import type { AppContext, AppEnv } from '../app-env.ts'
import { limitBody } from '../middleware/body-limit.ts'
import { openApiDocument } from '../openapi/document.ts'
import { openApiApp } from '../openapi/openapi-app.ts'
import { registerRateHeaders } from '../openapi/rest-components.ts'
import { registerConsoleDevices } from './device-routes.ts'
import { registerConsoleProvider } from './provider-routes.ts'
import { registerConsoleSession } from './session-routes.ts'

const DOCUMENT_PATH = '/console/openapi.json'
const INFO = {
  title: 'podplane console',
  version: '1',
  description: 'Sign-in at the console, and approval of devices. The console uses REST v2 for everything else.',
}
const TAGS = [
  { name: 'Session', description: 'Sessions of the console.' },
  { name: 'Devices', description: 'Command lines that a signed-in user approves (RFC 8628).' },
]
const COOKIE = {
  type: 'apiKey',
  in: 'cookie',
  name: '__Host-podplane-session',
  description: '`podplane-session` over plain http. Requests that change data also need `X-Requested-With: podplane`.',
} as const

/** The routes that only the console uses. The pages of the console are static files, served after these routes. */
export function consoleApi(): OpenAPIHono<AppEnv> {
  const app = openApiApp()
  app.openAPIRegistry.registerComponent('securitySchemes', 'cookie', COOKIE)
  registerRateHeaders(app)
  app.get(DOCUMENT_PATH, (c) => c.body(documentOnce(), 200, { 'Content-Type': 'application/json' }))
  for (const path of ['/console/session', '/console/session/link']) app.use(path, limitBody, keepToOneself)
  for (const path of ['/console/device', '/console/device/*']) app.on(['POST'], path, limitBody, keepToOneself)
  registerConsoleSession(app)
  registerConsoleDevices(app)
  registerConsoleProvider(app)
  return app
}

/** The OpenAPI 3.1 document of these routes. */
export function consoleDocument() {
  return openApiDocument(consoleApi(), INFO, TAGS)
}

let documentText: string | undefined
function documentOnce(): string {
  documentText ??= JSON.stringify(consoleDocument())
  return documentText
}

// SESSION-10: no cache may store who is signed in.
async function keepToOneself(c: AppContext, next: Next): Promise<void> {
  await next()
  c.res.headers.set('Cache-Control', 'no-store')
  c.res.headers.append('Vary', 'Cookie')
}
