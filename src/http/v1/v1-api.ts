import { Hono, type Next } from 'hono'
import { Problem } from '../../contract/problems.ts'
import { retirementHeaders, successorOf } from '../../domain/v1/successors.ts'
import { readSettings } from '../../env.ts'
import { failureResponse } from '../answers/problem-response.ts'
import type { AppContext, AppEnv } from '../app-env.ts'
import { requireCaller } from '../middleware/authentication.ts'
import { limitBody } from '../middleware/body-limit.ts'
import { limitRate } from '../middleware/rate-limit.ts'
import { refuseDryRun } from '../middleware/refuse-dry-run.ts'
import { BILLING_ROUTES } from './billing.ts'
import { v1Document } from './document.ts'
import { ENDPOINT_ROUTES } from './endpoints.ts'
import { POD_ROUTES } from './pods.ts'
import { RESOURCE_ROUTES } from './resources.ts'
import type { V1Route } from './route.ts'

const DOCUMENT_PATH = '/openapi.json'

/** All routes of v1. */
export const V1_ROUTES: readonly V1Route[] = [...POD_ROUTES, ...ENDPOINT_ROUTES, ...RESOURCE_ROUTES, ...BILLING_ROUTES]

/** API v1 below `/v1`: retired (LEG-1 to LEG-3), unless the operator has it mapped onto v2 (LEG-4). Checks run in the order of ERR-6. */
export function v1Api(): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.onError((error, c) => failureResponse(c, error, 'v1'))
  app.use('*', sayRetired, refuseUnlessServed)
  // As in v2, the document comes before the key check (CFG-3).
  app.get(DOCUMENT_PATH, (c) => c.json(v1Document(V1_ROUTES), 200))
  app.use('*', limitBody, requireCaller, limitRate, refuseDryRun)
  for (const { method, path, middleware, run } of V1_ROUTES) app.on([method], [path], ...middleware, run)
  app.all('*', unmatched)
  return app
}

async function sayRetired(c: AppContext, next: Next): Promise<void> {
  await next()
  for (const [name, value] of Object.entries(retirementHeaders(c.req.path))) c.res.headers.set(name, value)
}

// The refusal comes before the key check, so that every client of v1 sees it, even with an invalid key.
async function refuseUnlessServed(c: AppContext, next: Next): Promise<void> {
  if (readSettings(c.env).v1Adapter) return next()
  throw new Problem('gone', { detail: `API v1 was retired on 15 November 2026; use ${successorOf(c.req.path)} of API v2` })
}

/** Throws 405 with `Allow` for a path that other methods have, and 404 for any other path (ERR-2). */
function unmatched(c: AppContext): never {
  const path = c.req.path.replace(/^\/v1/, '')
  const methods = V1_ROUTES.filter((route) => new RegExp(`^${route.path.replace(':id', '[^/]+')}$`).test(path)).map(({ method }) => method)
  if (methods.length === 0) throw new Problem('pathNotFound')
  throw new Problem('methodNotAllowed', { headers: { Allow: methods.join(', ') } })
}
