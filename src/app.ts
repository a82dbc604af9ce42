import { Hono } from 'hono'
import { getPath } from 'hono/utils/url'
import { Problem } from './contract/problems.ts'
import { adminApi } from './http/admin-api.ts'
import { failureResponse } from './http/answers/problem-response.ts'
import type { AppEnv } from './http/app-env.ts'
import { consoleApi } from './http/console/console-api.ts'
import { graphqlApi } from './http/graphql/graphql-api.ts'
import { hostApi } from './http/host-api.ts'
import { requestContext } from './http/middleware/request-context.ts'
import { consolePage } from './http/pages/console-page.ts'
import { frontPage } from './http/pages/front-page.ts'
import { referencePage, referenceScript } from './http/pages/reference-page.ts'
import { readiness } from './http/readiness.ts'
import { restApi } from './http/rest-api.ts'
import { sshApi } from './http/ssh-api.ts'
import { v1Api } from './http/v1/v1-api.ts'

/** The router: every API but the job API, load-balanced endpoints and HTTP ports of pods, which `worker.ts` serves before it. */
export function createApp(): Hono<AppEnv> {
  const app = new Hono<AppEnv>({ getPath: pathToRoute })
  app.use('*', requestContext)
  app.get('/', frontPage)
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.get('/readyz', readiness)
  app.get('/docs', referencePage)
  app.get('/reference/*', referenceScript)
  app.route('/', consoleApi())
  app.route('/graphql', graphqlApi())
  app.route('/', restApi())
  app.route('/', adminApi())
  app.route('/host/v1', hostApi())
  app.route('/ssh/v1', sshApi())
  app.route('/v1', v1Api())
  app.get('/console', consolePage)
  app.get('/console/*', consolePage)
  app.notFound((c) => failureResponse(c, new Problem('pathNotFound')))
  app.onError((error, c) => failureResponse(c, error))
  return app
}

/** A segment that the router could take for the pattern of a route: `:id` or `*`. */
const LIKE_A_PATTERN = /\/[:*]/g

/** Returns the path of a request. The router finds a route twice, and runs its middleware twice, if a segment is written like its pattern. */
function pathToRoute(request: Request): string {
  return getPath(request).replaceAll(LIKE_A_PATTERN, (start) => `/%${start.charCodeAt(1).toString(16).toUpperCase()}`)
}
