import { Hono } from 'hono'
import { Problem } from './contract/problems.ts'
import { adminApi } from './http/admin-api.ts'
import type { AppContext, AppEnv } from './http/app-env.ts'
import { frontDoor } from './http/front-door.ts'
import { graphqlUnserved } from './http/graphql.ts'
import { hostApi } from './http/host-api.ts'
import { requestContext } from './http/middleware/request-context.ts'
import { problemResponse, toProblem } from './http/problem-response.ts'
import { referencePage, referenceScript } from './http/reference-page.ts'
import { restApi } from './http/rest-api.ts'
import { logEvent } from './platform/log.ts'

const SERVER_FAULT = 500

/** Every surface but the job API, which `worker.ts` serves before the router. */
export function createApp(): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.use('*', requestContext)
  app.get('/', frontDoor)
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.get('/docs', referencePage)
  app.get('/reference/*', referenceScript)
  app.all('/graphql', graphqlUnserved)
  app.route('/', restApi())
  app.route('/', adminApi())
  app.route('/host/v1', hostApi())
  app.notFound((c) => respond(c, new Problem('pathNotFound')))
  app.onError((error, c) => respond(c, error))
  return app
}

function respond(c: AppContext, error: unknown): Response {
  const problem = toProblem(error)
  if (problem.status >= SERVER_FAULT) {
    logEvent('error', 'request failed', {
      requestId: c.var.requestId,
      method: c.req.method,
      path: c.req.path,
      error: problem.cause ?? problem,
    })
  }
  return problemResponse(problem)
}
