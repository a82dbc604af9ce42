import { z } from 'zod'
import { JobBulk, JobBulkRequest } from '../../contract/jobs/bulk.ts'
import { ExplainReply } from '../../contract/jobs/explain.ts'
import type { ClientOperation } from '../../contract/jobs/job-routes.ts'
import {
  HealthReply,
  JobRecord,
  MetricsReply,
  OpenaiBody,
  OpenaiProblem,
  PurgeReply,
  RequestSeriesReply,
  RequestsReply,
  StreamReply,
  SubmitJobRequest,
} from '../../contract/jobs/jobs.ts'
import {
  BulkQuery,
  RequestsQuery,
  SeriesQuery,
  StreamHeaders,
  StreamQuery,
  SubmitHeaders,
  SubmitQuery,
  WaitQuery,
} from '../../contract/jobs/queries.ts'
import { JobTimeline } from '../../contract/jobs/timeline.ts'

/** HTTP methods of the OpenAPI document, in its spelling. */
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The documentation of an operation. Its path, methods and scope are in `JOB_ROUTES`. */
export interface DocumentedJob {
  operation: ClientOperation
  operationId: string
  summary: string
  description: string
  reply: z.ZodType
  /** Name of the single optional path segment after the operation. */
  segment?: string
  /** The methods that this entry documents; absent: all of the operation. */
  methods?: readonly Method[]
  body?: z.ZodType
  query?: z.ZodObject
  headers?: z.ZodObject
  /** Statuses in addition to those that every operation has. */
  statuses?: readonly number[]
  /** Contents of the `text/event-stream` answer, where there is one. */
  events?: { description: string; example: string }
  problem?: z.ZodType
}

const submit = { body: SubmitJobRequest, headers: SubmitHeaders, statuses: [413, 422] } as const
const ANY = z.unknown().meta({
  description: 'The answer of the worker.',
  example: { id: 'chatcmpl-1', object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' } }] },
})

const OPENAI = { operation: 'openai', reply: ANY, problem: OpenaiProblem } as const
const OPENAI_TEXT = 'The path after `openai` and the query are passed to the worker unchanged.'
const OPENAI_EVENTS = {
  description: "With `stream`: the worker's own events, then `data: [DONE]`.",
  example: 'data: {"choices":[{"index":0,"delta":{"content":"Hello."}}]}\n\ndata: [DONE]\n\n',
}
const OPENAI_STATUSES = [410, 413, 500, 504]

const BULK_TEXT =
  'Responds at once; the jobs are changed in the background. Each is checked in its state at that time: a job that has ended meanwhile is skipped, ' +
  'and later jobs are not included. With `dryRun`, the response is only the plan.'

/** All operations, in the order of the document. */
export const OPERATIONS: readonly DocumentedJob[] = [
  {
    operation: 'run',
    operationId: 'runJob',
    summary: 'Submit a job',
    description: 'Returns the id of the job at once. A repeated `Idempotency-Key` returns the job of the first call.',
    reply: JobRecord,
    query: SubmitQuery,
    ...submit,
  },
  {
    operation: 'runsync',
    operationId: 'runJobSync',
    summary: 'Submit a job and wait for it',
    description: 'Responds when the job ends or `wait` has passed, with its current record. A disconnected client cancels nothing.',
    reply: JobRecord,
    query: SubmitQuery.extend(WaitQuery.shape),
    ...submit,
    statuses: [409, 413, 422],
  },
  {
    operation: 'status',
    operationId: 'getJobStatus',
    summary: 'Read the state and result of a job',
    description: 'Responds at once. A result is stored for some time after the job ends; then the job is 404.',
    reply: JobRecord,
  },
  {
    operation: 'status-sync',
    operationId: 'awaitJob',
    summary: 'Read the state and result of a job, and wait for its end',
    description: 'Responds when the job ends or `wait` has passed, with its current record.',
    reply: JobRecord,
    query: WaitQuery,
  },
  {
    operation: 'stream',
    operationId: 'streamJob',
    summary: 'Stream the results of a job',
    description: 'As JSON: the chunks that no call has read yet. With `Accept: text/event-stream`: all chunks, as they arrive.',
    reply: StreamReply,
    query: StreamQuery,
    headers: StreamHeaders,
    events: {
      description:
        'One event per chunk (`id`, and `data` as in `stream`), then `event: end` with the job record. Reading removes no chunk.',
      example: 'id: 1\ndata: {"output":"Once"}\n\nid: 2\ndata: {"output":" upon"}\n\n',
    },
  },
  {
    operation: 'cancel',
    operationId: 'cancelJob',
    summary: 'Cancel a job',
    description: 'A queued job never starts; the worker of a running job is asked to stop it.',
    reply: JobRecord,
  },
  {
    operation: 'retry',
    operationId: 'retryJob',
    summary: 'Retry a failed or timed-out job',
    description: 'The job is queued again under its id and with its input, as long as the input is stored.',
    reply: JobRecord,
  },
  {
    operation: 'purge-queue',
    operationId: 'purgeQueue',
    summary: 'Cancel every queued job',
    description: 'Running jobs continue.',
    reply: PurgeReply,
  },
  {
    operation: 'explain',
    operationId: 'explainJob',
    summary: 'Explain the state of a job: the queue before it, the workers, the scaler, the hosts',
    description: 'The first reason that applies, with its figures.',
    reply: ExplainReply,
  },
  {
    operation: 'timeline',
    operationId: 'getJobTimeline',
    summary: 'Read the history of a job: attempts, phases, workers, price, notifications',
    description: 'Available as long as the record of the job is stored. The medians of the endpoint are included for comparison.',
    reply: JobTimeline,
  },
  {
    operation: 'health',
    operationId: 'getQueueHealth',
    summary: 'Counts of jobs and workers',
    description: 'Current numbers, for dashboards and load generators.',
    reply: HealthReply,
  },
  {
    operation: 'requests',
    operationId: 'listRequests',
    summary: 'List jobs by state, time and id',
    description:
      'Newest first. A page may have fewer jobs than `limit` although more follow: continue while `hasNextPage` is true. An output that is too large for the list is omitted; `/status` returns it.',
    reply: RequestsReply,
    query: RequestsQuery,
  },
  {
    operation: 'requests/cancel',
    operationId: 'cancelJobs',
    summary: 'Cancel many jobs, by state, time or id',
    description: BULK_TEXT,
    reply: JobBulk,
    body: JobBulkRequest,
    query: BulkQuery,
    statuses: [409, 413],
  },
  {
    operation: 'requests/retry',
    operationId: 'retryJobs',
    summary: 'Retry many failed and timed-out jobs',
    description: BULK_TEXT,
    reply: JobBulk,
    body: JobBulkRequest,
    query: BulkQuery,
    statuses: [409, 413],
  },
  {
    operation: 'requests/bulk',
    operationId: 'getJobBulk',
    summary: 'Read the progress of a bulk change of jobs',
    description: 'The newest hundred finished bulk changes stay readable.',
    reply: JobBulk,
  },
  {
    operation: 'metrics',
    operationId: 'getQueueMetrics',
    summary: 'List the workers that are ready',
    description: 'Ids of the workers that request or run jobs, and the number of workers in each state.',
    reply: MetricsReply,
  },
  {
    operation: 'metrics',
    segment: 'request_ts_v1',
    operationId: 'getRequestSeries',
    summary: 'Ended jobs by time slot',
    description: 'The number of jobs that ended in each time slot.',
    reply: RequestSeriesReply,
    query: SeriesQuery,
  },
  {
    ...OPENAI,
    operationId: 'callOpenai',
    summary: 'A call of the OpenAI API, answered by a worker',
    description: OPENAI_TEXT,
    methods: ['get'],
    statuses: [410, 500, 504],
  },
  {
    ...OPENAI,
    operationId: 'postOpenai',
    summary: 'A call of the OpenAI API with a body, answered by a worker',
    description: OPENAI_TEXT,
    body: OpenaiBody,
    events: OPENAI_EVENTS,
    methods: ['post'],
    statuses: OPENAI_STATUSES,
  },
  // The other methods of the OpenAI API have the same handler.
  ...(['put', 'patch', 'delete'] as const).map((method) => ({
    ...OPENAI,
    operationId: `${method}Openai`,
    summary: `A ${method.toUpperCase()} of the OpenAI API, answered by a worker`,
    description: OPENAI_TEXT,
    methods: [method],
    ...(method !== 'delete' && { body: OpenaiBody, events: OPENAI_EVENTS }),
    statuses: OPENAI_STATUSES,
  })),
]
