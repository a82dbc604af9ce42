import type { OpenAPIHono, RouteConfig } from '@hono/zod-openapi'
import { z } from 'zod'
import { JOB_ROUTES, type JobRoute } from '../../contract/jobs/job-routes.ts'
import { ProblemBody } from '../../contract/problems.ts'
import type { AppEnv } from '../app-env.ts'
import { BEARER, json, pathParam, RETRY_HEADERS } from '../openapi/rest-components.ts'
import { type DocumentedJob, type Method, OPERATIONS } from './job-operations.ts'

const EndpointParams = z.object({ endpointId: pathParam('endpointId', 'Endpoint id.') })
const PARAMS: Partial<Record<JobRoute['params'], z.ZodObject>> = {
  job: EndpointParams.extend({ jobId: pathParam('jobId', 'Job id, as `/run` returned it.') }),
  bulk: EndpointParams.extend({ bulkId: pathParam('bulkId', 'The bulk change, as in the response of the call that started it.') }),
  rest: EndpointParams.extend({ route: pathParam('route', 'Any path, slashes included, such as `v1/chat/completions`.') }),
}

/**
 * Documents the queue-based job API. Its routes are not registered through `openapi()`, because bodies there are opaque and large; this
 * function only adds them to the document.
 */
export function registerJobDocumentation(app: OpenAPIHono<AppEnv>): void {
  for (const job of OPERATIONS) {
    for (const method of methodsOf(job)) app.openAPIRegistry.registerPath(documented(job, method))
  }
}

function documented(job: DocumentedJob, method: Method): RouteConfig {
  // The second method of an operation needs its own operationId.
  const isAlias = method === 'post' && methodsOf(job).length > 1
  const route: JobRoute = JOB_ROUTES[job.operation]
  return {
    method,
    path: `/v2/{endpointId}/${[job.operation, ...segmentsOf(job)].join('/')}`,
    operationId: isAlias ? `${job.operationId}ByPost` : job.operationId,
    summary: job.summary,
    description: job.description,
    tags: ['Jobs'],
    security: BEARER,
    'x-scope': route.scope,
    request: {
      params: PARAMS[route.params] ?? EndpointParams,
      ...(job.query && { query: job.query }),
      ...(job.headers && { headers: job.headers }),
      ...(job.body && { body: json(job.body) }),
    },
    responses: {
      200: {
        description: 'Done.',
        content: {
          'application/json': { schema: job.reply },
          ...(job.events && { 'text/event-stream': { schema: z.string().meta(job.events) } }),
        },
      },
      ...jobProblems([400, 401, 403, 404, ...(job.statuses ?? []), 429], job.problem),
    },
  }
}

function methodsOf({ operation, methods }: DocumentedJob): readonly Method[] {
  return methods ?? JOB_ROUTES[operation].methods.map((method) => method.toLowerCase() as Method)
}

function segmentsOf({ operation, segment }: DocumentedJob): string[] {
  const { params } = JOB_ROUTES[operation]
  if (params === 'job') return ['{jobId}']
  if (params === 'bulk') return ['{bulkId}']
  if (params === 'rest') return ['{route}']
  return segment === undefined ? [] : [segment]
}

/** API-3: problems of the job API are plain JSON. API-5: a lacking scope is 401 there. */
function jobProblems(statuses: readonly number[], schema: z.ZodType = ProblemBody): RouteConfig['responses'] {
  return Object.fromEntries(
    [...statuses, 'default' as const].map((status) => [
      String(status),
      {
        description: DESCRIPTIONS[status] ?? 'Refused.',
        content: { 'application/json': { schema } },
        ...(status === 429 && { headers: RETRY_HEADERS }),
      },
    ]),
  )
}

const DESCRIPTIONS: Readonly<Record<number | 'default', string>> = {
  400: 'The request is not valid.',
  401: 'The key is missing, wrong or lacks the scope.',
  403: 'The account is suspended by the operator.',
  404: 'No such endpoint or job, or the job has been deleted.',
  409: 'The first request under this `Idempotency-Key` is still running.',
  410: 'The job was cancelled.',
  413: 'The body is too large.',
  422: 'The `Idempotency-Key` was used with another request.',
  429: 'Too many requests, or the queue is full.',
  500: 'The worker failed. It may choose another status between 400 and 599.',
  504: 'No answer within an hour.',
  default: 'Any other problem: 500 for a fault of the plane, 503 if it is temporarily unavailable.',
}
