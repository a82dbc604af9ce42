import { type RouteConfig as DocumentedRoute, OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler, Next } from 'hono'
import { z } from 'zod'
import { Problem, ProblemBody } from '../../contract/problems.ts'
import { describeIssues } from '../../contract/validation-errors.ts'
import type { AppContext, AppEnv } from '../app-env.ts'
import { refuseDryRun } from '../middleware/refuse-dry-run.ts'
import { RETRY_HEADERS } from './rest-components.ts'

type RouteConfig = DocumentedRoute & {
  middleware?: MiddlewareHandler | MiddlewareHandler[]
  /** Noun of a resource with an ETag of its state (REST-21): answers carry the tag, and changes take `If-Match`. */
  etagOf?: string
}

/** A router with documented routes, which answers failed validation with 422 and the failing paths (ERR-3, ERR-4). */
export function openApiApp(): OpenAPIHono<AppEnv> {
  const app = new OpenAPIHono<AppEnv>({
    defaultHook: (result) => {
      if (result.success) return
      // The hook also receives the raw value, although its type does not say so.
      const { data } = result as { data?: unknown }
      throw new Problem('validationFailed', { errors: describeIssues(result.error.issues, data) })
    },
  })
  const { openapi } = app
  app.openapi = ((route: RouteConfig, ...rest: [never, never]) => openapi(withoutPlan(withTag(route)), ...rest)) as typeof openapi
  return app
}

// DRY-30: a route that changes something and takes no `dryRun` refuses it.
function withoutPlan(route: RouteConfig): RouteConfig {
  const query = route.request?.query
  const isPlannable = query !== undefined && 'shape' in query && 'dryRun' in query.shape
  if (route.method === 'get' || isPlannable) return route
  const refused = { ...(route.responses[403] ?? route.responses[404] ?? route.responses[413]), description: REFUSED }
  const middleware = [refuseDryRun, ...[route.middleware ?? []].flat()]
  return { ...route, middleware, responses: { 400: refused, ...route.responses } }
}

const IS_CONDITIONAL: readonly string[] = ['patch', 'put', 'delete']
/** Statuses of answers that show a resource. */
const SHOWING: readonly number[] = [200, 201]

// REST-21: an answer that shows the resource carries its ETag, and a change may be conditional on it.
function withTag({ etagOf: noun, ...route }: RouteConfig): RouteConfig {
  if (noun === undefined) return route
  const shown = Object.entries(route.responses).map(([status, response]) => {
    // A 200 of a create is the plan of a resource that does not exist yet.
    const isShown = (status === '201' || (status === '200' && route.method !== 'post')) && 'content' in response && response.content
    return [status, isShown ? { ...response, headers: { ...response.headers, ...tagHeader(noun) } } : response] as const
  })
  const responses = Object.fromEntries(shown)
  const middleware = [...[route.middleware ?? []].flat(), takePrecondition]
  if (!IS_CONDITIONAL.includes(route.method)) return { ...route, middleware, responses }
  const refusal = (status: 409 | 412) => ({ ...(responses[404] ?? responses[403]), description: DESCRIPTIONS[status] ?? '' })
  const request = { ...route.request, headers: ifMatchHeader(noun) }
  return { ...route, middleware, request, responses: { 409: refusal(409), 412: refusal(412), ...responses } }
}

async function takePrecondition(c: AppContext, next: Next): Promise<void> {
  let tag: string | undefined
  const reportTag = (newTag: string) => {
    tag = newTag
  }
  c.set('precondition', { ifMatch: c.req.header('If-Match'), reportTag })
  await next()
  if (tag !== undefined && SHOWING.includes(c.res.status)) c.header('ETag', tag)
}

function tagHeader(noun: string) {
  return { ETag: { description: `State of the ${noun}, for \`If-Match\`.`, schema: { type: 'string' as const, example: '"3"' } } }
}

function ifMatchHeader(noun: string) {
  const description = `Apply the change only if the current \`ETag\` of the ${noun} is one of these; otherwise 412.`
  return z.object({
    'If-Match': z
      .string()
      .optional()
      .meta({ description, example: '"3"', param: { name: 'If-Match', in: 'header' } }),
  })
}

const REFUSED = 'The request matches the schema, but cannot be accepted.'
const DESCRIPTIONS: Readonly<Record<number | 'default', string>> = {
  400: REFUSED,
  401: 'The bearer token is missing or not valid.',
  402: 'The spend limit of the account does not allow it.',
  403: 'The key lacks the scope.',
  404: 'No such resource.',
  409: 'Not possible in the current state.',
  412: 'The resource does not match `If-Match`.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  422: 'The request does not match the schema.',
  429: 'Too many requests.',
  default: 'Any other problem: 500 for a fault of the plane, 503 if it is temporarily unavailable.',
}

type ProblemResponses = Record<string, { description: string; content: Record<string, { schema: typeof ProblemBody }>; headers?: object }>

/**
 * Returns the problems that a route can answer, for its `responses`, with `default` for those that any route can (DOC-12). The return type
 * hides them from the handler's type, because a handler throws problems instead of returning them.
 */
export function problemResponses(statuses: readonly number[], headers?: Record<string, { $ref: string }>): ProblemResponses {
  return Object.fromEntries(
    [...statuses, 'default' as const].map((status) => [
      String(status),
      {
        description: DESCRIPTIONS[status] ?? 'Refused.',
        content: { 'application/problem+json': { schema: ProblemBody } },
        // RATE-3: a caller that is not authenticated has no windows.
        ...(headers && status !== 401 && status !== 413 && { headers: status === 429 ? { ...headers, ...RETRY_HEADERS } : headers }),
      },
    ]),
  )
}
