import type { OpenAPIHono, RouteConfig } from '@hono/zod-openapi'
import { z } from 'zod'
import { ExplainReply } from '../contract/jobs/explain.ts'
import {
  HealthReply,
  JobRecord,
  MetricsReply,
  OpenaiBody,
  OpenaiProblem,
  PurgeReply,
  RequestSeriesReply,
  RequestsQuery,
  RequestsReply,
  SeriesQuery,
  StreamHeaders,
  StreamQuery,
  StreamReply,
  SubmitHeaders,
  SubmitJobRequest,
  SubmitQuery,
  WaitQuery,
} from '../contract/jobs/jobs.ts'
import { ProblemBody } from '../contract/problems.ts'
import type { AppEnv } from './app-env.ts'
import { BEARER, RETRY_HEADERS } from './rest-components.ts'

const endpointParam = { endpointId: z.string().meta({ param: { name: 'endpointId', in: 'path' } }) }
const EndpointParams = z.object(endpointParam)
const JobParams = z.object({ ...endpointParam, jobId: z.string().meta({ param: { name: 'jobId', in: 'path' } }) })

const RouteParams = z.object({
  ...endpointParam,
  route: z
    .string()
    .meta({ param: { name: 'route', in: 'path' }, description: 'Any path, slashes included, such as `v1/chat/completions`.' }),
})

interface JobOperation {
  path: string
  methods: readonly ('get' | 'post')[]
  operationId: string
  summary: string
  scope: string
  reply: z.ZodType
  body?: z.ZodType
  query?: z.ZodObject
  headers?: z.ZodObject
  /** Statuses of its own, beside those that every operation has. */
  statuses?: readonly number[]
  /** What `text/event-stream` holds, where it may be answered. */
  events?: string
  problem?: z.ZodType
}

const READ = ['get', 'post'] as const
const submit = {
  methods: ['post'],
  scope: 'jobs:write',
  body: SubmitJobRequest,
  headers: SubmitHeaders,
  statuses: [413, 422],
} as const
const read = { methods: READ, scope: 'jobs:read' } as const
const write = { methods: ['post'], scope: 'jobs:write' } as const
const list = { methods: ['get'], scope: 'jobs:read' } as const
const openai = { methods: ['get'], scope: 'jobs:write', problem: OpenaiProblem, statuses: [410, 500, 504] } as const
const ANY = z.unknown().meta({ description: 'What the worker answered.' })

const OPERATIONS: readonly JobOperation[] = [
  { path: 'run', operationId: 'runJob', summary: 'Submit a job', reply: JobRecord, query: SubmitQuery, ...submit },
  {
    path: 'runsync',
    operationId: 'runJobSync',
    summary: 'Submit a job and wait for it',
    reply: JobRecord,
    query: SubmitQuery.extend(WaitQuery.shape),
    ...submit,
    statuses: [409, 413, 422],
  },
  { path: 'status/{jobId}', operationId: 'getJobStatus', summary: 'State and result of a job', reply: JobRecord, ...read },
  {
    path: 'status-sync/{jobId}',
    operationId: 'awaitJob',
    summary: 'The same, waiting until it is over',
    reply: JobRecord,
    query: WaitQuery,
    ...read,
  },
  {
    path: 'stream/{jobId}',
    operationId: 'streamJob',
    summary: 'Results as they appear',
    reply: StreamReply,
    query: StreamQuery,
    headers: StreamHeaders,
    events: 'An event a chunk (`id`, and `data` as in `stream`), then `event: end` with the job record. Nothing is removed by reading.',
    ...read,
  },
  { path: 'cancel/{jobId}', operationId: 'cancelJob', summary: 'Cancel a job', reply: JobRecord, ...write },
  { path: 'retry/{jobId}', operationId: 'retryJob', summary: 'Queue a failed or timed-out job again', reply: JobRecord, ...write },
  { path: 'purge-queue', operationId: 'purgeQueue', summary: 'Cancel every queued job', reply: PurgeReply, ...write },
  {
    path: 'explain/{jobId}',
    operationId: 'explainJob',
    summary: 'Why a job is where it is: what is before it, the workers, the scaler, the hosts',
    reply: ExplainReply,
    methods: ['get'],
    scope: 'jobs:read',
  },
  {
    path: 'health',
    operationId: 'getQueueHealth',
    summary: 'Counts of jobs and workers',
    reply: HealthReply,
    ...list,
  },
  { path: 'requests', operationId: 'listRequests', summary: 'The newest jobs', reply: RequestsReply, query: RequestsQuery, ...list },
  { path: 'metrics', operationId: 'getQueueMetrics', summary: 'Workers that are up', reply: MetricsReply, ...list },
  {
    path: 'metrics/request_ts_v1',
    operationId: 'getRequestSeries',
    summary: 'What ended when',
    reply: RequestSeriesReply,
    query: SeriesQuery,
    ...list,
  },
  {
    path: 'openai/{route}',
    operationId: 'callOpenai',
    summary: 'A call of the OpenAI API, answered by a worker; any method',
    reply: ANY,
    ...openai,
  },
  {
    path: 'openai/{route}',
    operationId: 'postOpenai',
    summary: 'A call of the OpenAI API with a body, answered by a worker',
    reply: ANY,
    body: OpenaiBody,
    events: "With `stream`: the worker's own events, then `data: [DONE]`.",
    ...openai,
    methods: ['post'],
    statuses: [410, 413, 500, 504],
  },
]

/**
 * Documents the queue-based job API. Its routes are ordinary Hono, because bodies there are opaque and large; this is only what the
 * document says of them.
 */
export function registerJobDocumentation(app: OpenAPIHono<AppEnv>): void {
  for (const operation of OPERATIONS) {
    for (const method of operation.methods) app.openAPIRegistry.registerPath(documented(operation, method))
  }
}

function documented(operation: JobOperation, method: 'get' | 'post'): RouteConfig {
  // A second method of one operation needs an id of its own.
  const isAlias = method === 'post' && operation.methods.length > 1
  return {
    method,
    path: `/v2/{endpointId}/${operation.path}`,
    operationId: isAlias ? `${operation.operationId}ByPost` : operation.operationId,
    summary: operation.summary,
    tags: ['Jobs'],
    security: BEARER,
    'x-scope': operation.scope,
    request: {
      params: operation.path.includes('{jobId}') ? JobParams : operation.path.includes('{route}') ? RouteParams : EndpointParams,
      ...(operation.query && { query: operation.query }),
      ...(operation.headers && { headers: operation.headers }),
      ...(operation.body && { body: { required: true, content: { 'application/json': { schema: operation.body } } } }),
    },
    responses: {
      200: {
        description: 'Done.',
        content: {
          'application/json': { schema: operation.reply },
          ...(operation.events && { 'text/event-stream': { schema: z.string().meta({ description: operation.events }) } }),
        },
      },
      ...jobProblems([400, 401, 404, ...(operation.statuses ?? []), 429], operation.problem),
    },
  }
}

/** API-3: problems of the job API are plain JSON. API-5: a lacking scope is 401 there. */
function jobProblems(statuses: readonly number[], schema: z.ZodType = ProblemBody): RouteConfig['responses'] {
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      {
        description: DESCRIPTIONS[status] ?? 'Refused.',
        content: { 'application/json': { schema } },
        ...(status === 429 && { headers: RETRY_HEADERS }),
      },
    ]),
  )
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request cannot be done as it stands.',
  401: 'The key is missing, wrong or lacks the scope.',
  404: 'No such endpoint or job, or the job has been deleted.',
  409: 'The first request under this `Idempotency-Key` is still running.',
  410: 'The job was cancelled.',
  413: 'The body is too large.',
  422: 'The `Idempotency-Key` was used with another request.',
  429: 'Too many requests, or the queue is full.',
  500: 'The worker failed. It may name another status between 400 and 599.',
  504: 'No answer within an hour.',
}
