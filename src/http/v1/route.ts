import type { MiddlewareHandler } from 'hono'
import type { z } from 'zod'
import { CreateHeaders } from '../../contract/idempotency-key.ts'
import { Problem } from '../../contract/problems.ts'
import { describeIssues } from '../../contract/validation-errors.ts'
import { endsPod, podCapability, type Scope } from '../../domain/access.ts'
import { inV1Words } from '../../domain/v1/container.ts'
import type { VerbContext } from '../../services/context.ts'
import { type AppContext, type AppEnv, verbContext } from '../app-env.ts'
import { ENDS } from '../middleware/ending.ts'
import { scoped } from '../middleware/scope.ts'
import { strictJson } from '../middleware/strict-json.ts'

/** What a route of v1 is called with. */
export interface V1Call<Body = undefined> {
  c: AppContext
  ctx: VerbContext
  id: string
  query: URLSearchParams
  body: Body
  /** `Idempotency-Key`, as creates of v2 take it (PP-125). */
  key: string | undefined
}

/** One operation of v1: who may call it, by the scopes of v2, and what it does. */
export interface V1Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below `/v1`. */
  path: string
  /** Of its body; absent: it reads none. */
  schema?: z.ZodType
  middleware: MiddlewareHandler<AppEnv>[]
  run(c: AppContext): Promise<Response>
}

type Handler<Body> = (call: V1Call<Body>) => Promise<Response>

/** A route that reads no body: what is sent along is left alone, as clients of v1 name a content type always. */
export function v1Route(method: V1Route['method'], path: string, scope: Scope, handle: Handler<undefined>): V1Route {
  return { method, path, middleware: guard(scope, method, path, []), run: (c) => handle(callOf(c, undefined)) }
}

/** A route with a body. Members that are null count as left out (LEG-5). */
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

/** A body in v2, checked as v2 checks it; what is wrong is told by the names of v1. */
export function asV2<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  return parsed(schema, body, inV1Words)
}

/** The body of a mapping, or the 400 that it is. */
export function mapped<Body>(result: { ok: true; body: Body } | { ok: false; detail: string }): Body {
  if (!result.ok) throw new Problem('badRequest', { detail: result.detail, code: 'RULE' })
  return result.body
}

// A key that is bound to one pod may call the routes of that pod, here as in v2.
function guard(scope: Scope, method: V1Route['method'], path: string, more: MiddlewareHandler<AppEnv>[]): MiddlewareHandler<AppEnv>[] {
  const found = /^\/pods\/:id(\/\w+)?$/.exec(path)
  if (!found) return scoped(scope, more).middleware
  const action = method === 'DELETE' ? 'terminate' : (found[1] ?? '').slice(1)
  return scoped(scope, endsPod(action) ? [ENDS, ...more] : more, 'id', podCapability(action)).middleware
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
