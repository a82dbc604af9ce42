import type { RouteConfig } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import type { Scope } from '../../domain/access.ts'
import type { AppEnv } from '../app-env.ts'
import { type RouteScope, scoped } from '../middleware/scope.ts'
import { strictJson } from '../middleware/strict-json.ts'
import { problemResponses } from './openapi-app.ts'
import { BEARER, RATE_HEADERS } from './rest-components.ts'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
type OwnConfig = Omit<RouteConfig, 'method' | 'path' | 'tags' | 'security' | 'middleware'> & {
  middleware?: MiddlewareHandler<AppEnv>[]
  /** Statuses of problems beyond those that follow from the request. */
  problems?: readonly number[]
  /** See `openApiApp`. */
  etagOf?: string
}

/**
 * Returns a function that describes routes of REST v2 below a tag. Their scope is documented (`x-scope`) and checked before `middleware`
 * runs. A body is read strictly. Problems that the key, the id, the query or the body can cause are documented without being named.
 */
export function restRoutes(tag: string) {
  return <M extends Method, P extends string, R extends OwnConfig>(method: M, path: P, needed: Scope | RouteScope, config: R) => {
    const { scope, guards } = typeof needed === 'string' ? scoped(needed) : needed
    const route = described(tag, method, path, config, { statuses: [401, 403, 429], headers: RATE_HEADERS })
    return { ...route, 'x-scope': scope, middleware: [...guards, ...route.middleware] }
  }
}

/** Like `restRoutes`, for the operator API, which has neither scopes nor rate limits. */
export function operatorRoutes(tag: string) {
  return <M extends Method, P extends string, R extends OwnConfig>(method: M, path: P, config: R) =>
    described(tag, method, path, config, { statuses: [401] })
}

interface Always {
  statuses: readonly number[]
  headers?: typeof RATE_HEADERS
}

function described<M extends Method, P extends string, R extends OwnConfig>(
  tag: string,
  method: M,
  path: P,
  { problems = [], ...config }: R,
  { statuses, headers }: Always,
) {
  const { request, middleware = [], responses } = config
  // The type leaves the problems out, because a handler throws them instead of returning them.
  const answers: typeof responses = {
    ...responses,
    ...problemResponses([...statuses, ...problemsOf(path, request), ...problems], headers),
  }
  const isBodyUnread = request?.body !== undefined && !middleware.includes(strictJson)
  return {
    tags: [tag],
    security: BEARER,
    method,
    path,
    ...config,
    middleware: isBodyUnread ? [strictJson, ...middleware] : middleware,
    responses: answers,
  }
}

function problemsOf(path: string, { query, body }: RouteConfig['request'] = {}): readonly number[] {
  return [...(path.includes('{id}') ? [404] : []), ...(query ? [422] : []), ...(body ? [400, 415, 422] : [])]
}
