import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { ChangePlan } from '../../contract/change-plan.ts'
import type { AppEnv } from '../app-env.ts'

/** Security requirement of every route but the documents. */
export const BEARER = [{ bearerAuth: [] }]

/** Headers of every answer to an authenticated caller (RATE-3). */
export const RATE_HEADERS = {
  RateLimit: { $ref: '#/components/headers/RateLimit' },
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimit-Policy' },
}

/** Headers of every 429 (API-7, RATE-3). */
export const RETRY_HEADERS = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }

/** Registers the bearer scheme. */
export function registerSecurity(app: OpenAPIHono<AppEnv>, description: string): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearerAuth', { type: 'http', scheme: 'bearer', description })
}

/** Registers the two rate limit headers (RATE-2) and `Retry-After`. */
export function registerRateHeaders(app: OpenAPIHono<AppEnv>): void {
  app.openAPIRegistry.registerComponent('headers', 'RateLimit', {
    description: 'Requests left (`r`) and seconds until reset (`t`) of each window. Absent for exempt accounts.',
    schema: { type: 'string' },
    example: '"minute";r=59;t=30, "hour";r=2999;t=1800, "day";r=49999;t=80000',
  })
  app.openAPIRegistry.registerComponent('headers', 'RateLimit-Policy', {
    description: 'Quota (`q`) and length in seconds (`w`) of each window.',
    schema: { type: 'string' },
    example: '"minute";q=60;w=60, "hour";q=3000;w=3600, "day";q=50000;w=86400',
  })
  app.openAPIRegistry.registerComponent('headers', 'Retry-After', {
    description: 'Whole seconds after which the call may succeed.',
    schema: { type: 'integer' },
    example: 7,
  })
}

/** A successful answer in JSON. */
export function answer<Schema extends z.ZodType>(description: string, schema: Schema) {
  return { description, content: { 'application/json': { schema } } }
}

/** A successful answer to an authenticated caller. */
export function ok<Schema extends z.ZodType>(description: string, schema: Schema) {
  return { ...answer(description, schema), headers: RATE_HEADERS }
}

/** A JSON body. Without `required`, a request that names no content type would skip validation. */
export function json<Schema extends z.ZodType>(schema: Schema) {
  return { required: true, content: { 'application/json': { schema } } }
}

/** A parameter in the path. */
export function pathParam(name: string, description: string) {
  return z.string().meta({ param: { name, in: 'path' }, description })
}

/** The parameters of a path whose only one is `id`. */
export function idParams(description: string) {
  return z.object({ id: pathParam('id', description) })
}

const WITH_DRY_RUN = 'With `dryRun`: the effects of the change.'

/** The answer to `dryRun` of a verb whose success has another status (DRY-5). */
export const PLANNED = ok(WITH_DRY_RUN, ChangePlan)

/** The answers of a verb that ends something: without a body when it is done, or the plan of it. */
export function endedOrPlan(description: string) {
  return { 200: PLANNED, 204: { description, headers: RATE_HEADERS } }
}

/** The answer of a verb whose success and plan are both a 200; make `schema` with `orChangePlan`. */
export function okOrPlan<Schema extends z.ZodType>(description: string, schema: Schema) {
  return ok(`${description} ${WITH_DRY_RUN}`, schema)
}

/**
 * The answer to `dryRun` of a create. Its schema, named `id`, also fits the 201: openapi-generator has one type for all successful answers,
 * that of the lowest status (DOC-3).
 */
export function plannedOrMade<Plan extends z.ZodType, Made extends z.ZodType>(id: string, description: string, plan: Plan, made: Made) {
  return ok(description, z.union([made, plan]).meta({ id, example: plan.meta()?.example }))
}

/** Like `okOrPlan`, for the operator API, whose answers have no rate limit headers. */
export function operatorOkOrPlan<Schema extends z.ZodType>(description: string, schema: Schema) {
  return answer(`${description} ${WITH_DRY_RUN}`, schema)
}

/** Like `endedOrPlan`, for the operator API. */
export function operatorEndedOrPlan(description: string) {
  return { 200: answer(WITH_DRY_RUN, ChangePlan), 204: { description } }
}
