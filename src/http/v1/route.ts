import type { MiddlewareHandler } from 'hono'
import type { z } from 'zod'
import { CreateHeaders } from '../../contract/idempotency-key.ts'
import { Problem } from '../../contract/problems.ts'
import { describeIssues } from '../../contract/validation-errors.ts'
import { endsPod, podCapability, type Scope } from '../../domain/access.ts'
import { inV1Terms } from '../../domain/flat/container.ts'
import type { VerbContext } from '../../services/context.ts'
import { type AppContext, type AppEnv, verbContext } from '../app-env.ts'
import { ENDS } from '../middleware/ending.ts'
import { scoped } from '../middleware/scope.ts'
import { strictJson } from '../middleware/strict-json.ts'

/** The arguments of a v1 route's handler. */
export interface V1Call<Body = undefined> {
  c: AppContext
  ctx: VerbContext
  id: string
  query: URLSearchParams
  body: Body
  /** The `Idempotency-Key`, as in creates of v2 (IDEM-2). */
  key: string | undefined
}

/** One operation of v1: the scope of v2 that it needs, and its handler. */
export interface V1Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Path below `/v1`. */
  path: string
  /** Schema of the body; absent: the route reads no body. */
  schema?: z.ZodType
  middleware: MiddlewareHandler<AppEnv>[]
  run(c: AppContext): Promise<Response>
}

type Handler<Body> = (call: V1Call<Body>) => Promise<Response>

/** A route that reads no body. A body is ignored, because clients of v1 always send a content type. */
export function v1Route(method: V1Route['method'], path: string, scope: Scope, handle: Handler<undefined>): V1Route {
  return { method, path, middleware: guard(scope, method, path, []), run: (c) => handle(callOf(c, undefined)) }
}

/** A route that ends something and answers without a body. */
export function v1DeleteRoute(path: string, scope: Scope, end: (ctx: VerbContext, id: string) => Promise<unknown>): V1Route {
  return v1Route('DELETE', path, scope, async ({ c, ctx, id }) => {
    await end(ctx, id)
    return c.body(null, 204)
  })
}

/** A route with a body. Null members count as absent (LEG-5). */
export function v1BodyRoute<Schema extends z.ZodType>(
  method: 'POST' | 'PATCH',
  path: string,
  scope: Scope,
  schema: Schema,
  handle: Handler<z.infer<Schema>>,
): V1Route {
  const run = async (c: AppContext) =>
    handle(
      callOf(
        c,
        parsed(schema, withoutNulls(await c.req.json()), (error) => error),
      ),
    )
  return { method, path, schema, middleware: guard(scope, method, path, [strictJson]), run }
}

/** Validates a body against the schema of v2. Errors use the names of v1. */
export function asV2<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  return parsed(schema, body, inV1Terms)
}

/** Returns the body of a mapping. Throws 400 if the mapping failed. */
export function mapped<Body>(result: { ok: true; body: Body } | { ok: false; detail: string }): Body {
  if (!result.ok) throw new Problem('badRequest', { detail: result.detail, code: 'RULE' })
  return result.body
}

// A key that is bound to one pod may call the routes of that pod, as in v2.
function guard(scope: Scope, method: V1Route['method'], path: string, more: MiddlewareHandler<AppEnv>[]): MiddlewareHandler<AppEnv>[] {
  const found = /^\/pods\/:id(\/\w+)?$/.exec(path)
  if (!found) return [...scoped(scope).guards, ...more]
  const action = method === 'DELETE' ? 'terminate' : (found[1] ?? '').slice(1)
  const { guards } = scoped(scope, 'id', podCapability(action))
  return [...guards, ...(endsPod(action) ? [ENDS, ...more] : more)]
}

function callOf<Body>(c: AppContext, body: Body): V1Call<Body> {
  const headers = { 'Idempotency-Key': c.req.header('Idempotency-Key') }
  const { 'Idempotency-Key': key } = parsed(CreateHeaders, headers, (error) => error)
  return { c, ctx: verbContext(c), id: c.req.param('id') ?? '', query: new URL(c.req.url).searchParams, body, key }
}

function parsed<Schema extends z.ZodType>(schema: Schema, value: unknown, words: (error: string) => string): z.infer<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new Problem('validationFailed', { errors: describeIssues(result.error.issues, value).map(words) })
}

function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
}
