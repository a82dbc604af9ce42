import { Hono, type Next } from 'hono'
import { Problem } from '../../contract/problems.ts'
import { retirementHeaders, successorOf } from '../../domain/v1/successors.ts'
import type { AppContext, AppEnv } from '../app-env.ts'
import { failureResponse } from '../problem-response.ts'

/** API v1 below `/v1`: retired (LEG-1 to LEG-3). */
export function v1Api(): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.onError((error, c) => failureResponse(c, error, 'v1'))
  app.use('*', sayRetired)
  app.all('*', gone)
  return app
}

async function sayRetired(c: AppContext, next: Next): Promise<void> {
  await next()
  for (const [name, value] of Object.entries(retirementHeaders(c.req.path))) c.res.headers.set(name, value)
}

// Before the key is looked at: whoever still calls v1 learns of it, with a key of former days too.
function gone(c: AppContext): never {
  throw new Problem('gone', { detail: `API v1 was retired on 15 November 2026; use ${successorOf(c.req.path)} of API v2` })
}
