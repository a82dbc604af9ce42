import { Hono } from 'hono'
import type { Env } from '../../src/env.ts'
import type { AppEnv } from '../../src/http/app-env.ts'
import { visitOf } from '../../src/http/callers/session-headers.ts'
import { requestContext } from '../../src/http/middleware/request-context.ts'
import { openApiApp } from '../../src/http/openapi/openapi-app.ts'
import { registerTemplates } from '../../src/http/routes/templates.ts'
import { authenticate } from '../../src/services/authenticate.ts'
import type { Principal } from '../../src/services/context.ts'

const app = new Hono<AppEnv>()
let known: Principal | undefined

app.use('*', requestContext)
app.use('*', async (c, next) => {
  known ??= await lookUp(c.req.raw, c.env, c.executionCtx)
  c.set('principal', known)
  await next()
})
app.route('/', registered())

/** Calls the routes of templates for one caller who is authenticated once: without key check, limits and body cap. */
export function callOpenly(request: Request, env: Env, ctx: ExecutionContext): Response | Promise<Response> {
  return app.fetch(request, env, ctx)
}

function registered() {
  const routes = openApiApp()
  registerTemplates(routes)
  return routes
}

async function lookUp(request: Request, env: Env, ctx: Pick<ExecutionContext, 'waitUntil'>): Promise<Principal> {
  const result = await authenticate(env, request.headers.get('authorization'), Date.now(), visitOf(request, ctx))
  if (!result.ok) throw new Error('the caller of the bench is not known')
  return result.principal
}
