import { type RouteConfig as DocumentedRoute, OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { Problem, ProblemBody } from '../../contract/problems.ts'
import type { AppEnv } from '../app-env.ts'
import { refuseDryRun } from '../middleware/refuse-dry-run.ts'
import { RETRY_HEADERS } from './rest-components.ts'
import { describeIssues } from './validation-errors.ts'

type RouteConfig = DocumentedRoute & { middleware?: MiddlewareHandler | MiddlewareHandler[] }

/** A router whose routes are documented and whose failed validation is 422 with the places that failed (ERR-3, ERR-4). */
export function openApiApp(): OpenAPIHono<AppEnv> {
  const app = new OpenAPIHono<AppEnv>({
    defaultHook: (result) => {
      if (result.success) return
      // The hook is handed the raw value beside the outcome, though its type does not say so.
      const { data } = result as { data?: unknown }
      throw new Problem('validationFailed', { errors: describeIssues(result.error.issues, data) })
    },
  })
  const { openapi } = app
  app.openapi = ((route: RouteConfig, ...rest: [never, never]) => openapi(withoutPlan(route), ...rest)) as typeof openapi
  return app
}

// SEC-14: what changes something and takes no `dryRun` refuses it.
function withoutPlan(route: RouteConfig): RouteConfig {
  const query = route.request?.query
  const isPlannable = query !== undefined && 'shape' in query && 'dryRun' in query.shape
  if (route.method === 'get' || isPlannable) return route
  const refused = { ...(route.responses[403] ?? route.responses[404] ?? route.responses[413]), description: REFUSED }
  const middleware = [refuseDryRun, ...[route.middleware ?? []].flat()]
  return { ...route, middleware, responses: { 400: refused, ...route.responses } }
}

const REFUSED = 'Fits the schema and is still refused.'
const DESCRIPTIONS: Readonly<Record<number | 'default', string>> = {
  400: REFUSED,
  401: 'The bearer token is missing or not valid.',
  402: 'The spend limit of the account leaves no room for it.',
  403: 'The key lacks the scope.',
  404: 'No such resource.',
  409: 'Not possible in the present state.',
  412: 'The resource is not as `If-Match` says.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  422: 'The request does not match the schema.',
  429: 'Too many requests.',
  default: 'Any other problem: 500 when the plane is at fault, 503 when it cannot answer right now.',
}

type ProblemResponses = Record<string, { description: string; content: Record<string, { schema: typeof ProblemBody }>; headers?: object }>

/**
 * The problems that a route can answer, for its `responses`, and `default` for those that any route can (PP-261). Throwing them needs no
 * type, so they stay out of the handler's.
 */
export function problemResponses(statuses: readonly number[], headers?: Record<string, { $ref: string }>): ProblemResponses {
  return Object.fromEntries(
    [...statuses, 'default' as const].map((status) => [
      String(status),
      {
        description: DESCRIPTIONS[status] ?? 'Refused.',
        content: { 'application/problem+json': { schema: ProblemBody } },
        // RATE-3: a caller who is not known has no windows.
        ...(headers && status !== 401 && status !== 413 && { headers: status === 429 ? { ...headers, ...RETRY_HEADERS } : headers }),
      },
    ]),
  )
}
