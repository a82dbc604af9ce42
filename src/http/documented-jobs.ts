import type { OpenAPIHono, RouteConfig } from '@hono/zod-openapi'
import { z } from 'zod'
import { ExplainReply } from '../contract/explain.ts'
import { HealthReply, JobRecord, PurgeReply, StreamReply, SubmitJobRequest, WaitQuery } from '../contract/jobs.ts'
import { ProblemBody } from '../contract/problems.ts'
import type { AppEnv } from './app-env.ts'
import { BEARER } from './rest-components.ts'

const endpointParam = { endpointId: z.string().meta({ param: { name: 'endpointId', in: 'path' } }) }
const EndpointParams = z.object(endpointParam)
const JobParams = z.object({ ...endpointParam, jobId: z.string().meta({ param: { name: 'jobId', in: 'path' } }) })

interface JobOperation {
  path: string
  methods: readonly ('get' | 'post')[]
  operationId: string
  summary: string
  scope: string
  reply: z.ZodType
  body?: z.ZodType
  query?: z.ZodObject
}

const READ = ['get', 'post'] as const
const submit = { methods: ['post'], scope: 'jobs:write', body: SubmitJobRequest } as const
const read = { methods: READ, scope: 'jobs:read' } as const
const write = { methods: ['post'], scope: 'jobs:write' } as const

const OPERATIONS: readonly JobOperation[] = [
  { path: 'run', operationId: 'runJob', summary: 'Submit a job', reply: JobRecord, ...submit },
  { path: 'runsync', operationId: 'runJobSync', summary: 'Submit a job and wait for it', reply: JobRecord, query: WaitQuery, ...submit },
  { path: 'status/{jobId}', operationId: 'getJobStatus', summary: 'State and result of a job', reply: JobRecord, ...read },
  {
    path: 'status-sync/{jobId}',
    operationId: 'awaitJob',
    summary: 'The same, waiting until it is over',
    reply: JobRecord,
    query: WaitQuery,
    ...read,
  },
  { path: 'stream/{jobId}', operationId: 'streamJob', summary: 'Results as they appear', reply: StreamReply, query: WaitQuery, ...read },
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
    methods: ['get'],
    scope: 'jobs:read',
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
      params: operation.path.includes('{jobId}') ? JobParams : EndpointParams,
      ...(operation.query && { query: operation.query }),
      ...(operation.body && { body: { required: true, content: { 'application/json': { schema: operation.body } } } }),
    },
    responses: {
      200: { description: 'Done.', content: { 'application/json': { schema: operation.reply } } },
      ...jobProblems(operation.body ? [400, 401, 404, 413, 429] : [400, 401, 404, 429]),
    },
  }
}

/** API-3: problems of the job API are plain JSON. API-5: a lacking scope is 401 there. */
function jobProblems(statuses: readonly number[]): RouteConfig['responses'] {
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      { description: DESCRIPTIONS[status] ?? 'Refused.', content: { 'application/json': { schema: ProblemBody } } },
    ]),
  )
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request cannot be done as it stands.',
  401: 'The key is missing, wrong or lacks the scope.',
  404: 'No such endpoint or job, or the job has been deleted.',
  413: 'The body is too large.',
  429: 'Too many requests, or the queue is full.',
}
